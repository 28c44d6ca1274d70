import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readKeysFile } from '../../../src/access/keys-file.ts'
import type { Logger } from '../../../src/observability/logger.ts'
import { startTestService } from '../../integration/service/harness.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, keysFileText, writeKeysFile } from '../../support/keys.ts'

const root = mkdtempSync(join(tmpdir(), 'haversack-service-keys-'))
afterAll(() => rmSync(root, { recursive: true }))

const source = (path: string) => fileURLToPath(new URL(`../../../src/${path}`, import.meta.url))

/**
 * A command in a process of its own: its code, or the signal that ended it, and what it printed.
 */
async function run(command: string, ...args: string[]) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', chunk => {
      printed[name] += chunk
    })
  }
  const [code, signal] = await once(child, 'close')
  return { end: (code ?? signal) as number | string, ...printed }
}

describe('the keys command in processes of its own', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(root, 'cli-'))
    path = join(folder, 'keys.json')
  })
  const add = () => run(process.execPath, source('cli.ts'), 'keys', 'add', '--file', path)

  it('loses no key of several that are added at once: each is there, or was refused', async () => {
    const added = await Promise.all(Array.from({ length: 6 }, add))
    const done = added.filter(({ end }) => end === 0)
    const refused = added.filter(({ end }) => end !== 0)
    expect(done.length).toBeGreaterThan(0)
    expect(readKeysFile(path)).toHaveLength(done.length)
    for (const { stdout } of done) expect(stdout).toMatch(/^hvs_[\w-]{43}\n$/)
    for (const { end, stdout, stderr } of refused) {
      expect([end, stdout]).toEqual([1, ''])
      expect(stderr).toContain('another process is changing it')
    }
    expect(readdirSync(folder)).toEqual(['keys.json'])
  })

  it('leaves the old file where it is killed in the middle, and says so later', async () => {
    writeKeysFile(path, keyFor('acme'))
    const before = readFileSync(path, 'utf8')
    const code = `import { changeKeysFile } from ${JSON.stringify(source('access/keys-file.ts'))}
      changeKeysFile(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
    const killed = await run(process.execPath, '--input-type=module', '-e', code)
    expect(killed.end).toBe('SIGKILL')
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(await add()).toMatchObject({
      end: 1,
      stdout: '',
      stderr: expect.stringContaining(`remove ${path}.next if none is`),
    })
    rmSync(`${path}.next`)
    expect(await add()).toMatchObject({ end: 0 })
    expect(readKeysFile(path)).toHaveLength(2)
  })

  it('leaves the old file where the new one does not fit the disk', async () => {
    writeKeysFile(path, ...Array.from({ length: 20 }, () => keyFor('acme')))
    const before = readFileSync(path, 'utf8')
    // A limit for the size of files: as on a full disk, a write is short first and fails then.
    const script = `ulimit -f 1; exec "$@"`
    const command = [process.execPath, source('cli.ts'), 'keys', 'add', '--file', path]
    const full = await run('bash', '-c', script, 'bash', ...command)
    expect(full).toMatchObject({ end: 1, stdout: '' })
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readdirSync(folder)).toEqual(['keys.json'])
  })
})

describe('the keys of a running service', () => {
  const [old, fresh] = [keyFor('acme'), keyFor('beta')]
  const admin = keyFor('ops', { scopes: ['metrics'] })
  const path = join(root, 'keys.json')
  let service: Awaited<ReturnType<typeof startTestService>>

  const logged: { level: string; line: object; message: string }[] = []
  const log = (level: string) => (line: object, message: string) => {
    logged.push({ level, line, message })
  }
  const logger = {
    level: 'info',
    ...Object.fromEntries(['debug', 'info', 'warn', 'error'].map(level => [level, log(level)])),
  } as unknown as Logger

  beforeAll(async () => {
    writeKeysFile(path, admin, old)
    service = await startTestService({ keys_file: path, workers: { count: 1 } }, { logger })
  })
  afterAll(() => service.close())
  beforeEach(() => {
    become(old)
    logged.length = 0
  })

  /** Another file in its place, at once. */
  function replace(text: string): void {
    writeFileSync(`${path}.next`, text)
    renameSync(`${path}.next`, path)
  }

  /** As SIGHUP does it; the configuration stays. */
  function reload(): void {
    service.reload(() => {
      throw new Error('has not changed')
    })
  }

  function become(...keys: readonly (typeof old)[]): void {
    replace(keysFileText(admin, ...keys))
    reload()
  }

  const status = async ({ headers }: typeof old) =>
    (await service.post('/v1/count', '{"content":"a b"}', headers)).status

  async function failed(): Promise<number> {
    const text = await (await fetch(`${service.url}/metrics`, admin)).text()
    return Number(/^haversack_reload_failed\{what="keys"\} (\d)$/m.exec(text)?.[1])
  }

  /** The watch looks every two seconds. */
  const soon = (condition: () => Promise<void>) => eventually(condition)

  it('are read again soon after the file has changed, and stay while it holds garbage', async () => {
    replace(`${keysFileText(admin, fresh)}x`)
    await soon(async () => expect(await failed()).toBe(1))
    expect([await status(old), await status(fresh)]).toEqual([200, 401])
    replace(keysFileText(admin, fresh))
    await soon(async () => expect(await failed()).toBe(0))
    expect([await status(old), await status(fresh)]).toEqual([401, 200])
    expect(logged).toContainEqual({
      level: 'info',
      line: { keys: 2, tenants: 2 },
      message: 'keys read again',
    })
  })

  it('are others when it is told so, with the file written in place', async () => {
    writeFileSync(path, keysFileText(admin, fresh))
    reload()
    expect([await status(old), await status(fresh)]).toEqual([401, 200])
  })

  it.each([
    ['no JSON', () => writeFileSync(path, '{"version":1,"keys":['), 'is not JSON'],
    ['empty', () => writeFileSync(path, ''), 'is not JSON'],
    ['not of the schema', () => writeFileSync(path, '{"version":1}'), 'keys: '],
    ['deleted', () => rmSync(path), 'cannot be read (ENOENT)'],
  ])('stay in force where the file is %s, and the log says why', async (_, harm, reason) => {
    harm()
    reload()
    expect([await status(old), await status(fresh), await failed()]).toEqual([200, 401, 1])
    const line = logged.find(({ message }) => message.startsWith('keys not read'))
    expect(line).toMatchObject({
      level: 'error',
      line: {
        err: expect.objectContaining({ message: expect.stringContaining(`${path}: ${reason}`) }),
      },
    })
    become(fresh)
    expect([await status(old), await status(fresh), await failed()]).toEqual([401, 200, 0])
  })

  it('may be none, and then nobody is let in', async () => {
    writeFileSync(path, '{"version":1,"keys":[]}')
    reload()
    expect([await status(old), await status(admin)]).toEqual([401, 401])
  })

  it('keep what was used of their rate', async () => {
    const limited = keyFor('acme', { rate_per_s: 0.001, burst: 3 })
    become(limited)
    expect([await status(limited), await status(limited)]).toEqual([200, 200])
    become(limited, fresh)
    expect([await status(limited), await status(limited)]).toEqual([200, 429])
  })
})
