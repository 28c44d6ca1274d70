import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAccess } from '../../../src/access/access.ts'
import { readKeysFile } from '../../../src/access/keys-file.ts'
import { captureCli } from '../../support/capture.ts'

const root = mkdtempSync(join(tmpdir(), 'haversack-cli-keys-'))
afterAll(() => rmSync(root, { recursive: true }))

let file: string
beforeEach(() => {
  file = join(mkdtempSync(join(root, 'test-')), 'keys.json')
  vi.unstubAllEnvs()
})

const keys = (...args: string[]) => captureCli('keys', ...args, '--file', file)

describe('keys add', () => {
  it('prints a key that works, and keeps only its hash', async () => {
    const { code, stdout, stderr } = await keys('add', '--tenant', 'acme')
    const key = stdout.trimEnd()
    expect([code, stdout]).toEqual([0, `${key}\n`])
    expect(key).toMatch(/^hvs_[\w-]{43}$/)
    const [record] = readKeysFile(file)
    expect(record).toMatchObject({ tenant: 'acme', scopes: ['encode', 'retrieve'], redeems: false })
    expect(record?.sha256).toBe(hash('sha256', key))
    const access = createAccess(readKeysFile(file), () => 0)
    expect(access.identify(() => key)).toMatchObject({ tenant: 'acme', keyId: record?.id })
    expect(stderr).toContain(record?.id)
    for (const text of [readFileSync(file, 'utf8'), stderr]) {
      expect(text).not.toContain(key)
      expect(text).not.toContain(key.slice(4))
    }
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('notes all that it is told', async () => {
    const args = [
      '--rate',
      '2.5',
      '--burst',
      '7',
      '--concurrent',
      '3',
      '--redeems',
      '--references',
      '--project',
      'web',
      '--note',
      'CI',
    ]
    const { stdout } = await keys('add', '--scopes', 'metrics, admin,metrics', ...args, '--json')
    const { key, ...printed } = JSON.parse(stdout)
    expect(key).toMatch(/^hvs_/)
    expect(readKeysFile(file)).toEqual([printed])
    expect(printed).toMatchObject({
      tenant: 'local',
      scopes: ['metrics', 'admin'],
      redeems: true,
      references: true,
      project: 'web',
      rate_per_s: 2.5,
      burst: 7,
      max_concurrent: 3,
      note: 'CI',
    })
  })

  it('takes the file from the environment', async () => {
    vi.stubEnv('HAVERSACK_KEYS_FILE', file)
    expect(await captureCli('keys', 'add')).toMatchObject({ code: 0 })
    expect(readKeysFile(file)).toHaveLength(1)
  })

  it.each([
    ['--scopes', ''],
    ['--scopes', 'encode,fly'],
    ['--scopes', 'encode,'],
    ['--scopes', '__proto__'],
    ['--tenant', ''],
    ['--tenant', '../acme'],
    ['--tenant', 'a b'],
    ['--tenant', 'a\n'],
    ['--tenant', 'a'.repeat(64)],
    ['--rate', '0'],
    ['--rate=-1'],
    ['--rate', 'fast'],
    ['--rate', 'NaN'],
    ['--rate', 'Infinity'],
    ['--rate', '1e7'],
    ['--rate', ''],
    ['--rate', '1', '--burst', '0'],
    ['--rate', '1', '--burst', '1.5'],
    ['--burst', '5'],
    ['--concurrent', '0'],
    ['--concurrent', '0.5'],
    ['--team', 'backend'],
    ['--member', 'ada'],
    ['--scopes', 'fingerprints:read', '--team', ''],
    ['--scopes', 'fingerprints:read', '--team', 'backend,'],
    ['--scopes', 'fingerprints:read', '--team', '../backend'],
    ['--scopes', 'fingerprints:write', '--member', 'a/b'],
    ['--scopes', 'fingerprints:write', '--member', 'ada,bob'],
    ['--what'],
    ['more'],
  ])('takes %j %j for wrong usage and writes nothing', async (...args) => {
    const { code, stdout, stderr } = await keys('add', ...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('haversack: ')
    expect(existsSync(file)).toBe(false)
  })

  it('says a file that cannot be used, and prints no key', async () => {
    writeFileSync(file, '{"version":1,"keys":[')
    const { code, stdout, stderr } = await keys('add')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(`haversack: ${file}: is not JSON\n`)
    expect(readFileSync(file, 'utf8')).toBe('{"version":1,"keys":[')
    expect(await keys('add', '--note', 'x'.repeat(201))).toMatchObject({ code: 1, stdout: '' })
  })
})

describe('keys list', () => {
  it('shows who may do what, and neither keys nor hashes', async () => {
    const key = (await keys('add', '--tenant', 'acme', '--rate', '5')).stdout.trim()
    await keys('add', '--tenant', 'beta', '--scopes', 'metrics', '--note', 'for Prometheus')
    const { code, stdout, stderr } = await keys('list')
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[1]).toMatch(/acme +encode,retrieve +5\/s +\d{4}-\d\d-\d\d/)
    expect(lines[2]).toMatch(/beta +metrics .*for Prometheus/)
    expect(stdout).not.toContain(key)
    expect(stdout).not.toContain(hash('sha256', key))
    expect(JSON.parse((await keys('list', '--json')).stdout)).toEqual(readKeysFile(file))
  })

  it('shows the teams and the member that a key is limited to', async () => {
    const scopes = 'fingerprints:read,fingerprints:write'
    await keys('add', '--scopes', scopes, '--team', 'clients, beta,beta', '--member', 'm1')
    expect(readKeysFile(file)).toMatchObject([{ teams: ['clients', 'beta'], member: 'm1' }])
    expect((await keys('list')).stdout).toContain('team clients beta, member m1')
  })

  it('fails where there is no file, and makes none', async () => {
    expect(await keys('list')).toMatchObject({ code: 1, stdout: '' })
    expect(existsSync(file)).toBe(false)
  })
})

describe('keys revoke', () => {
  it('takes one key out', async () => {
    await keys('add')
    await keys('add')
    const [first, second] = readKeysFile(file)
    expect(await keys('revoke', first?.id ?? '')).toMatchObject({ code: 0, stdout: '' })
    expect(readKeysFile(file)).toEqual([second])
  })

  it('says that there is no such key, and leaves the file alone', async () => {
    expect(await keys('revoke', 'abcd')).toMatchObject({ code: 1 })
    expect(existsSync(file)).toBe(false)
    await keys('add')
    const { ino } = statSync(file)
    const { code, stderr } = await keys('revoke', 'abcd')
    expect([code, stderr]).toEqual([1, `haversack: no key abcd in ${file}\n`])
    expect(statSync(file).ino).toBe(ino)
  })
})

describe('keys', () => {
  it.each([[[]], [['fly']], [['list', 'x']], [['revoke']], [['revoke', 'a', 'b']]])(
    'takes %j for wrong usage',
    async args => {
      expect(await keys(...args)).toMatchObject({ code: 2, stdout: '' })
      expect(existsSync(file)).toBe(false)
    },
  )

  it('needs to know which file', async () => {
    vi.stubEnv('HAVERSACK_KEYS_FILE', '')
    vi.stubEnv('HAVERSACK_CONFIG', '')
    const { code, stderr } = await captureCli('keys', 'list')
    expect(code).toBe(2)
    expect(stderr).toContain('HAVERSACK_KEYS_FILE')
  })
})
