import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createAccess } from '../../../../src/access/access.ts'
import type { KeyRecord } from '../../../../src/access/key-record.ts'
import { readKeysFile } from '../../../../src/access/keys-file.ts'
import { keysFor } from '../../../../src/http/ui/keys.ts'
import { testApp } from '../../../support/app.ts'
import { keyFor, writeKeysFile } from '../../../support/keys.ts'
import { ownLedger } from '../../../support/ledger/own-ledger.ts'
import { IDLE_SERVICE } from '../../../support/ledger/ui-source.ts'

const FORM = { host: 'haversack.internal', origin: 'http://haversack.internal' }

async function start(fields: Partial<KeyRecord> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-keys-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'keys.json')
  const own = keyFor('a', { scopes: ['ui', 'admin', 'encode'], ...fields })
  const other = keyFor('b', { scopes: ['encode'] })
  writeKeysFile(file, own, other)
  const access = createAccess(readKeysFile(file), () => 0)
  const ui = { ...IDLE_SERVICE, keysFile: file }
  const { app } = testApp({ ledger: ownLedger().ledger, access, ui })
  const post = (path: string, body: URLSearchParams, headers = {}) =>
    app.request(path, { method: 'POST', headers: { ...FORM, ...headers }, body: body.toString() })
  const entered = await post('/ui/login', new URLSearchParams({ key: own.key }))
  const cookie = { cookie: entered.headers.get('set-cookie')!.split(';')[0]! }
  const add = (scopes: readonly string[], note = '') =>
    post(
      '/ui/keys',
      new URLSearchParams([...scopes.map(scope => ['scope', scope]), ['note', note]]),
      cookie,
    )
  const revoke = (id: string) => post('/ui/keys/revoke', new URLSearchParams({ id }), cookie)
  return { file, own, other, access, ui, add, revoke }
}

it('adds a key that is in force at once, and shows it once', async () => {
  const { file, access, add } = await start()
  const answer = await add(['encode'], 'for <b>CI</b>')
  const text = await answer.text()
  const [key = ''] = /hvs_[\w-]{43}/.exec(text) ?? []
  expect(access.identify(() => key)).toMatchObject({ tenant: 'a', scopes: new Set(['encode']) })
  expect(text).toContain('for &lt;b&gt;CI&lt;/b&gt;')
  expect(readKeysFile(file)).toHaveLength(3)
  expect(JSON.stringify(readKeysFile(file))).not.toContain(key)
  const again = await add([])
  expect([again.status, (await again.text()).includes(key)]).toEqual([400, false])
})

it('gives no right that its owner does not have', async () => {
  const { file, add } = await start({ teams: ['x'], member: 'm' })
  await add(['encode', 'metrics', 'retrieve', '__proto__'])
  const made = readKeysFile(file)[2]
  expect(made).toMatchObject({ tenant: 'a', scopes: ['encode'], teams: ['x'], member: 'm' })
  expect((await add(['metrics'])).status).toBe(400)
  expect(readKeysFile(file)).toHaveLength(3)
})

it('gives no more than its own bounds', async () => {
  const bounds = { rate_per_s: 2, burst: 3, max_concurrent: 4, project: 'p', teams: ['x'] }
  const of = { ...bounds, member: 'm', redeems: true, references: true, note: 'mine' }
  const { file, add } = await start(of)
  await add(['encode'])
  const made = readKeysFile(file)[2]!
  expect(made).toMatchObject({ ...bounds, member: 'm', redeems: false })
  expect(made).not.toHaveProperty('references')
  expect(made).not.toHaveProperty('note')
})

it('gives no key after its own was revoked', async () => {
  const { file, own, other, add } = await start()
  writeKeysFile(file, other)
  expect((await add(['encode'])).status).toBe(403)
  expect(readKeysFile(file).map(({ id }) => id)).not.toContain(own.record.id)
})

it('revokes keys of its own tenant only', async () => {
  const { file, other, access, add, revoke } = await start()
  await add(['encode'])
  const made = readKeysFile(file)[2]!
  expect((await revoke(other.record.id)).status).toBe(404)
  expect((await revoke(made.id)).status).toBe(200)
  expect(readKeysFile(file).map(({ id }) => id)).not.toContain(made.id)
  expect(access.resume(made.id)).toBeNull()
  expect(access.resume(other.record.id)).not.toBeNull()
})

it('is for keys with the scope admin', async () => {
  const { file, access, ui, own, add, revoke } = await start({ scopes: ['ui', 'encode'] })
  expect((await add(['encode'])).status).toBe(403)
  expect((await revoke(own.record.id)).status).toBe(403)
  expect(readKeysFile(file)).toHaveLength(2)
  expect(
    keysFor(
      access.identify(() => own.key),
      { access, ui },
    ),
  ).toBeNull()
})

it('says that the file cannot be written, and changes nothing', async () => {
  const { file, access, add } = await start()
  rmSync(file.replace('keys.json', ''), { recursive: true })
  const answer = await add(['encode'])
  expect([answer.status, access.records()?.length]).toEqual([503, 2])
})
