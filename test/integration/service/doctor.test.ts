import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { cacheFolder } from '../../../src/config/user-folders.ts'
import { captureCli } from '../../support/capture.ts'
import { startSmallService } from './harness.ts'
import { type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>
let home: string
const cache = cacheFolder({})
let settings: string

beforeAll(async () => {
  upstream = await recordingUpstream()
  service = await startSmallService({ proxy: { anthropic_url: upstream.url } })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'haversack-home-'))
  settings = join(home, '.claude', 'settings.json')
  vi.stubEnv('HOME', home)
  vi.stubEnv('ANTHROPIC_BASE_URL', '')
  vi.stubEnv('CLAUDE_CONFIG_DIR', '')
  vi.stubEnv('HAVERSACK_DATA_DIR', join(home, 'data'))
  // Packing the vocabularies again would take most of the time.
  vi.stubEnv('HAVERSACK_CACHE_DIR', cache)
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

interface Found {
  readonly check: string
  readonly state: string
  readonly found: string
}

async function doctor(...argv: string[]) {
  const { code, stdout } = await captureCli('doctor', '--json', '--url', service.url, ...argv)
  const findings = JSON.parse(stdout) as readonly Found[]
  return { code, of: (check: string) => findings.find(each => each.check === check), stdout }
}

describe('doctor', () => {
  it.each([
    ['', 'ok', 'nothing is done about them'],
    ['clearing.enabled = true', 'ok', 'old results are cleared'],
    ['cache_life.life = "1h"', 'ok', 'cache_life: life = "1h"'],
    [
      'cache_life.pings = 2\nclearing.enabled = true',
      'warn',
      'cache_life: pings = 2 is in force only for conversations that clearing declines',
    ],
  ])('says what is done about pauses with %j', async (text, state, found) => {
    mkdirSync(join(home, 'data'))
    writeFileSync(join(home, 'data', 'pipeline_config.toml'), text)
    expect((await doctor()).of('pauses')).toMatchObject({ state, found })
  })

  it('finds nothing wrong with a service, its upstream, and an agent that was set up', async () => {
    vi.stubEnv('HAVERSACK_ANTHROPIC_URL', upstream.url)
    await captureCli('setup', 'claude', '--yes', '--url', service.url)
    const { code, of } = await doctor('claude')
    expect(code).toBe(0)
    for (const check of ['node', 'configuration', 'store', 'encoding', 'service', 'clock', 'key']) {
      expect(of(check)).toMatchObject({ state: 'ok' })
    }
    expect(of('upstream anthropic')).toMatchObject({ state: 'ok' })
    expect(of('requests')).toMatchObject({ state: 'warn' })
    expect(of('agent claude')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining(settings),
    })
  })

  it('names what sends an agent elsewhere, without its credentials', async () => {
    expect((await doctor('claude')).of('agent claude')?.found).toContain('names no base URL')
    await captureCli('setup', 'claude', '--yes', '--url', service.url)
    vi.stubEnv('ANTHROPIC_BASE_URL', 'https://me:secret@gateway/a')
    const { code, of, stdout } = await doctor('claude')
    expect(code).toBe(1)
    expect(of('agent claude')).toMatchObject({
      state: 'fail',
      found: 'ANTHROPIC_BASE_URL sends it to gateway',
    })
    expect(stdout).not.toContain('secret')
  })

  it('says what to do where no service answers, and an upstream does not', async () => {
    vi.stubEnv('HAVERSACK_OPENAI_URL', 'http://127.0.0.1:9')
    const { code, stdout } = await captureCli('doctor', '--url', 'http://127.0.0.1:9')
    expect(code).toBe(1)
    expect(stdout).toMatch(/fail {2}service +nothing answers at .*\n +→ start it: haversack serve/)
    expect(stdout).toMatch(/fail {2}upstream openai +127\.0\.0\.1:9 cannot be reached/)
  })

  it('goes on with a configuration that is not valid', async () => {
    vi.stubEnv('HAVERSACK_PORT', 'x')
    const { code, of } = await doctor()
    expect([code, of('configuration')?.state, of('service')?.state]).toEqual([1, 'fail', 'ok'])
  })
})

describe('doctor of the hook', () => {
  /** A program in place of Claude Code that tells its version. */
  async function withVersion(version: string) {
    const program = join(home, 'claude')
    writeFileSync(program, `#!/bin/sh\necho "${version} (Claude Code)"\n`)
    chmodSync(program, 0o755)
    vi.stubEnv('PATH', `${home}:${process.env['PATH']}`)
    return (await doctor('claude')).of('hook claude')
  }

  it.each([
    ['2.1.99', 'fail', 'takes no outputs'],
    ['2.1.177', 'warn', 'may pass over it'],
    ['2.1.197', 'ok', 'takes its outputs'],
    ['x', 'warn', 'tells no version'],
  ])('finds version %s: %s', async (version, state, found) => {
    await captureCli('setup', 'claude', '--hook', '--yes', '--url', service.url)
    expect(await withVersion(version)).toMatchObject({
      state,
      found: expect.stringContaining(found),
    })
    expect((await doctor('claude')).of('agent claude')?.state).toBe('ok')
  })

  it('finds none, and one that calls another service', async () => {
    expect((await doctor('claude')).of('hook claude')).toMatchObject({ found: 'not set' })
    await captureCli('setup', 'claude', '--hook', '--yes', '--url', 'http://127.0.0.1:9')
    expect((await doctor('claude')).of('hook claude')).toMatchObject({ state: 'fail' })
  })
})

describe('doctor of what is no service', () => {
  it('says so if an answer breaks off', async () => {
    const broken = createServer((_request, response) => {
      response.writeHead(503, { 'content-length': 100 })
      response.write('not ', () => response.destroy())
    })
    await new Promise<void>(resolve => broken.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`
    const { code, of } = await doctor('--url', url)
    expect(code).toBe(1)
    expect(of('service')).toMatchObject({
      state: 'fail',
      found: expect.stringContaining(`another program answers at ${url}`),
    })
    broken.close()
  })

  it.each(['http://me:s3cret@host', 'ftp://me:s3cret@host'])('shows nothing of %s', async url => {
    const { code, stdout, stderr } = await captureCli('doctor', '--url', url)
    expect(code).toBe(2)
    expect(stdout + stderr).not.toContain('s3cret')
  })
})

describe('setup', () => {
  const run = (...argv: string[]) => captureCli('setup', ...argv)

  it('shows the change, and writes nothing with --print or without a terminal', async () => {
    const { code, stdout } = await run('--print', 'claude')
    expect([code, stdout]).toEqual([0, expect.stringContaining('+     "ANTHROPIC_BASE_URL"')])
    expect(await run('claude')).toMatchObject({ code: 2 })
    expect(() => readFileSync(settings)).toThrow('ENOENT')
  })

  it('changes a file once, and puts it back', async () => {
    const before = '{\n  // mine\n  "env": { "A": "1" }\n}\n'
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, before)
    chmodSync(settings, 0o640)
    expect((await run('--yes', 'claude')).code).toBe(0)
    expect(readFileSync(settings, 'utf8')).toContain('http://127.0.0.1:8787/anthropic')
    expect((await run('--yes', 'claude')).stderr).toContain('has this base URL already')
    expect((await run('--yes', '--url', 'http://other:1', 'claude')).code).toBe(0)
    expect(readFileSync(settings, 'utf8')).toContain('http://other:1/anthropic')
    expect((await run('--undo', 'claude')).code).toBe(0)
    expect(readFileSync(settings, 'utf8')).toBe(before)
    expect((await run('--undo', 'claude')).code).toBe(1)
  })

  it('says what keeps the agent from using the base URL', async () => {
    vi.stubEnv('CODEX_HOME', home)
    writeFileSync(join(home, 'config.toml'), 'model_provider = "mine"\n')
    const { stderr } = await run('--yes', 'codex')
    expect(stderr).toContain('model_provider = "mine" has a base URL of its own')
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://other')
    const claude = await run('--yes', 'claude')
    expect(claude.stderr).toContain('ANTHROPIC_BASE_URL in your environment takes precedence')
  })

  it('puts nothing back over what was changed since', async () => {
    await run('--yes', 'claude')
    const mine = readFileSync(settings, 'utf8').replace('{', '{ "mine": 1,')
    writeFileSync(settings, mine)
    expect((await run('--undo', 'claude')).stderr).toContain('was changed since')
    expect(readFileSync(settings, 'utf8')).toBe(mine)
  })

  it('refuses links and files that are broken, and leaves them', async () => {
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, '{"env": 3}')
    expect((await run('--yes', 'claude')).stderr).toContain(settings)
    expect(readFileSync(settings, 'utf8')).toBe('{"env": 3}')
    rmSync(settings)
    symlinkSync(join(home, 'elsewhere'), settings)
    expect((await run('--yes', 'claude')).stderr).toContain('no plain file')
  })

  it('sets the hook of Claude Code once, and takes it out', async () => {
    const before = '{\n  "hooks": { "PostToolUse": [{ "hooks": [] }] } // mine\n}\n'
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, before)
    expect((await run('--yes', '--hook', 'claude')).code).toBe(0)
    const written = readFileSync(settings, 'utf8')
    expect(written).toContain('haversack hook claude --url http://127.0.0.1:8787"')
    expect(written).toContain('// mine')
    expect(written).not.toContain('ANTHROPIC_BASE_URL')
    expect((await run('--yes', '--hook', 'claude')).stderr).toContain('has this hook already')
    expect((await run('--undo', 'claude')).code).toBe(0)
    expect(readFileSync(settings, 'utf8')).toBe(before)
  })

  it('sets the status line of Claude Code beside the base URL, and takes both out', async () => {
    const before = '{\n  "model": "opus" // mine\n}\n'
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, before)
    expect((await run('--yes', '--statusline', 'claude')).code).toBe(0)
    const written = readFileSync(settings, 'utf8')
    expect(written).toContain('"command": "haversack statusline --url http://127.0.0.1:8787"')
    expect(written).toContain('http://127.0.0.1:8787/anthropic')
    expect(written).toContain('// mine')
    expect((await run('--undo', 'claude')).code).toBe(0)
    expect(readFileSync(settings, 'utf8')).toBe(before)
  })

  it('asks for caches of an hour beside the base URL and the line, and takes all out', async () => {
    const before = '{ "model": "opus" }'
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, before)
    expect((await run('--yes', '--cache-1h', '--statusline', 'claude')).code).toBe(0)
    const { env, statusLine } = JSON.parse(readFileSync(settings, 'utf8'))
    expect(env.ENABLE_PROMPT_CACHING_1H).toBe('1')
    expect(statusLine.type).toBe('command')
    expect((await run('--undo', 'claude')).code).toBe(0)
    expect(readFileSync(settings, 'utf8')).toBe(before)
    expect((await run('--yes', '--cache-1h', 'codex')).code).toBe(2)
  })

  it('leaves a status line that is not ours', async () => {
    const before = '{"statusLine": {"type": "command", "command": "mine"}}'
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, before)
    const { code, stderr } = await run('--yes', '--statusline', 'claude')
    expect([code, stderr]).toEqual([1, expect.stringContaining('has a status line already')])
    expect(readFileSync(settings, 'utf8')).toBe(before)
    expect((await run('--yes', '--statusline', 'codex')).code).toBe(2)
    expect((await run('--yes', '--statusline', '--hook', 'claude')).code).toBe(2)
    const url = 'http://127.0.0.1/$(id)'
    expect((await run('--yes', '--statusline', '--url', url, 'claude')).code).toBe(2)
  })

  it('refuses a hook for other agents, and a URL that a shell would not take', async () => {
    expect(await run('--yes', '--hook', 'codex')).toMatchObject({ code: 2 })
    const url = 'http://127.0.0.1/$(id)'
    expect(await run('--yes', '--hook', '--url', url, 'claude')).toMatchObject({ code: 2 })
    mkdirSync(join(home, '.claude'))
    writeFileSync(settings, '{"hooks": {"PostToolUse": {}}}')
    expect((await run('--yes', '--hook', 'claude')).stderr).toContain('is no list')
  })

  it('setup refuses agents that it does not know', async () => {
    expect(await run('claud')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean claude?'),
    })
    expect(await run('constructor')).toMatchObject({ code: 2 })
    expect(await run()).toMatchObject({ code: 2 })
  })
})
