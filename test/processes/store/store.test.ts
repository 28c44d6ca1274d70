import { execFileSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parsePart } from '../../../src/core/parts/parse-part.ts'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'
import { threadConnect } from '../../../src/store/sqlite/connection.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import { acknowledged, check, startLimitedWriter, startWriter } from './killed.ts'

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString()

test('a body goes through the thread and comes back, whole and in parts', async () => {
  const folder = tempFolder()
  const store = await openSqliteStore({ folder, onEvent: () => {} })
  const body = Buffer.from(Array.from({ length: 50_000 }, (_, i) => `line ${i + 1}\n`).join(''))
  const pooled = Buffer.from('a small one, in a buffer that others share')
  const [large, small] = await store.put([
    { tenant: 'a', body: new Uint8Array(body), mediaType: 'text/plain', transfer: true },
    { tenant: 'a', body: pooled, mediaType: 'text/plain', transfer: true },
  ])
  const ref = hash('sha256', body)
  expect(large).toMatchObject({ ok: true, hash: ref })
  expect(small).toMatchObject({ ok: true, hash: hash('sha256', pooled) })
  const whole = await store.get({ tenant: 'a', ref })
  expect(whole.ok && Buffer.compare(whole.body, body)).toBe(0)
  const part = async (query: Parameters<typeof parsePart>[0]) => {
    const result = await store.part({ tenant: 'a', ref }, parsePart(query)!)
    return result.ok ? text(result.part.content) : result
  }
  expect(await part({ lines: '40000-40001' })).toBe('line 40000\nline 40001\n')
  expect(await part({ bytes: '65530-65545' })).toBe(text(body.subarray(65530, 65546)))
  expect(await part({ grep: 'line 777', context: '0' })).toMatch(/^777:line 777\n--\n7770:/)
  expect(await part({ lines: '50001' })).toMatchObject({
    reason: 'invalid_request',
    errors: [{ path: 'lines', message: 'the original has 50000 lines' }],
  })
  const value = Buffer.from('value')
  await store.writeRecord({ tenant: 'a', namespace: 'n', key: 'k', value })
  const record = await store.readRecord({ tenant: 'a', namespace: 'n', key: 'k' })
  expect(record.ok && text(record.value)).toBe('value')
  await store.close()
  expect(readdirSync(folder)).toEqual(['store.sqlite'])
})

test('a thread that is killed is replaced, and nothing acknowledged is lost', async () => {
  const folder = tempFolder()
  const events: StoreEvent[] = []
  let kill = (): Promise<void> => Promise.resolve()
  const store = await openSqliteStore({
    folder,
    onEvent: event => events.push(event),
    connect(handlers) {
      const connection = threadConnect({ folder })(handlers)
      kill = () => connection.terminate()
      return connection
    },
  })
  const put = (i: number) =>
    store.put([{ tenant: 'a', body: Buffer.from(`body ${i}`), mediaType: 'x' }])
  const before = (await Promise.all(Array.from({ length: 20 }, (_, i) => put(i)))).flat()
  const waiting = Array.from({ length: 20 }, (_, i) => put(100 + i))
  await kill()
  const answers = (await Promise.all(waiting)).flat()
  expect(answers.every(answer => answer.ok || answer.reason === 'lost')).toBe(true)
  await expect.poll(async () => (await put(1000))[0]?.ok).toBe(true)
  for (const kept of [...before, ...answers]) {
    if (kept.ok) expect((await store.get({ tenant: 'a', ref: kept.hash })).ok).toBe(true)
  }
  expect(events.map(({ kind }) => kind)).toEqual(['thread_lost'])
  await store.close()
})

test('a folder that cannot be used is said at the start', async () => {
  const file = join(tempFolder(), 'a-file')
  writeFileSync(file, '')
  const folder = join(file, 'below')
  await expect(openSqliteStore({ folder, onEvent: () => {} })).rejects.toThrow(/ENOTDIR/)
})

test('what was acknowledged survives SIGKILL, of one writer or of two at once', async () => {
  const folder = tempFolder()
  const names: string[] = []
  for (let round = 0; round < 8; round++) {
    const writers = [startWriter(folder, `r${round}a`)]
    // The first two also make the file at the same moment.
    if (round % 2 === 0) writers.push(startWriter(folder, `r${round}b`))
    await Promise.all(writers.map(writer => writer.said(20 + Math.floor(Math.random() * 200))))
    for (const { child } of writers) child.kill('SIGKILL')
    await Promise.all(writers.map(({ ended }) => ended))
    for (const { lines } of writers) {
      expect(lines.filter(line => !/^\w+:\d+$/.test(line))).toEqual([])
      names.push(...acknowledged(lines))
    }
  }
  expect(names.length).toBeGreaterThan(8 * 20)
  expect(await check(folder, names)).toEqual({ lost: [], damaged: 0, events: [] })
})

test('a process that closes the store takes nothing from one that goes on writing', async () => {
  const folder = tempFolder()
  const writer = startWriter(folder, 'stays')
  for (let round = 1; round <= 3; round++) {
    await writer.said(20 * round)
    const other = await openSqliteStore({ folder, onEvent: () => {} })
    await other.close()
    expect(readdirSync(folder)).toContain('store.sqlite-wal')
  }
  await writer.said(writer.lines.length + 20)
  writer.child.kill('SIGKILL')
  await writer.ended
  const names = acknowledged(writer.lines)
  expect(names.length).toBeGreaterThan(60)
  expect(await check(folder, names)).toEqual({ lost: [], damaged: 0, events: [] })
})

test('on a disk that is full puts are refused, gets go on, and space lets it recover', async () => {
  const folder = tempFolder()
  const writer = startLimitedWriter(folder, 'full', 3000)
  const refused = () => writer.lines.findIndex(line => line.startsWith('read '))
  while (refused() < 0 && writer.child.exitCode === null) await writer.said(writer.lines.length + 1)
  const names = acknowledged(writer.lines)
  expect(names.length).toBeGreaterThan(16)
  expect(writer.lines).toContain('read true')
  expect(writer.lines.filter(line => line.startsWith('refused'))).toHaveLength(1)
  expect(writer.lines.join()).toMatch(/"kind":"write_failed"/)
  execFileSync('bash', ['-c', `prlimit --pid ${writer.child.pid} --fsize=unlimited:unlimited`])
  writer.child.stdin!.end('999999\n')
  await writer.ended
  expect(writer.lines.slice(-3)).toEqual([
    'event {"kind":"write_recovered"}',
    'full:999999',
    'closed',
  ])
  expect(await check(folder, acknowledged(writer.lines))).toEqual({
    lost: [],
    damaged: 0,
    events: [],
  })
})
