import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { makeTemporaryFolder } from '../../src/cli/run/temporary-folder.ts'
import { SERVICE_HEADER } from '../../src/runtime/service-proof.ts'
import { captureCli } from '../support/capture.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-completion-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('completion bash', () => {
  const file = join(folder, 'completion.bash')
  beforeAll(async () => writeFileSync(file, (await captureCli('completion', 'bash')).stdout))

  /** What bash offers for the last word of a command line. */
  function offered(...words: readonly string[]): readonly string[] {
    const script = `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _haversack
      printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script, file, 'haversack', ...words], {
      encoding: 'utf8',
    })
    expect(stderr).toBe('')
    return stdout.split('\n').filter(line => line !== '')
  }

  it.each([
    [['encod'], ['encode']],
    [['help', 'encod'], ['encode']],
    [['setup', 'cl'], ['claude']],
    [['setup', '--un'], ['--undo']],
    [
      ['mcp', 'lo'],
      ['login', 'logout'],
    ],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [
      ['encode', '--mode', ''],
      ['lossless', 'elide', 'trim'],
    ],
    [['encode', '--mode', 'tr'], ['trim']],
    [['keys', 'add', '--sc'], ['--scopes']],
    [['encode', 'x'], []],
  ])('%j', (words, expected) => expect(offered(...words)).toEqual(expected))

  it('offers every command, and programs after run', () => {
    expect(offered('')).toEqual(expect.arrayContaining(Object.keys(COMMANDS)))
    expect(offered('run', 'bas')).toContain('bash')
  })
})

it.each(['zsh', 'fish'])('completion %s names every command and its options', async shell => {
  const { code, stdout } = await captureCli('completion', shell)
  expect(code).toBe(0)
  for (const [name, { load }] of Object.entries(COMMANDS)) {
    expect(stdout).toContain(name)
    for (const option of Object.keys((await load()).options)) expect(stdout).toContain(option)
  }
})

describe('status', () => {
  const home = join(folder, 'home')
  const settings = join(home, '.claude/settings.json')
  const before = { ...process.env }
  beforeAll(() => {
    mkdirSync(dirname(settings), { recursive: true })
    Object.assign(process.env, { HOME: home, HAVERSACK_DATA_DIR: join(home, 'data') })
  })
  afterAll(() => {
    for (const name of ['HOME', 'HAVERSACK_DATA_DIR']) {
      if (before[name] === undefined) delete process.env[name]
      else process.env[name] = before[name]
    }
  })

  it('says that nothing runs, with 3, and what to do', async () => {
    const { code, stdout, stderr } = await captureCli('status', '--url', 'http://127.0.0.1:9')
    expect([code, stderr]).toEqual([3, ''])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^version {2}\d+\.\d+\.\d+$/),
      'service  http://127.0.0.1:9 does not run; start it with: haversack serve',
      'agents   none is set up: haversack setup AGENT',
      'ledger   nothing recorded yet',
      '',
    ])
  })

  it('says what runs, which agents use it, and what the ledger has', async () => {
    const server = createServer((_, answer) =>
      answer.writeHead(200, { [SERVICE_HEADER]: '1' }).end(),
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    writeFileSync(settings, JSON.stringify({ env: { ANTHROPIC_BASE_URL: `${url}/anthropic` } }))
    mkdirSync(join(home, 'data'))
    writeFileSync(join(home, 'data/ledger.sqlite'), 'x'.repeat(4_096))
    const { code, stdout } = await captureCli('status', '--url', url)
    expect([code, stdout.split('\n').slice(1)]).toEqual([
      0,
      [
        `service  ${url} runs`,
        `agent    claude: requests go to ${url}`,
        expect.stringContaining('data/ledger.sqlite, 5 kB'),
        '',
      ],
    ])
    const { stdout: json } = await captureCli('status', '--json', '--url', url)
    expect(JSON.parse(json)).toMatchObject({ services: [{ url, runs: true }], installed: [] })
    server.close()
  })

  it('knows the configured service, and each run of this user', async () => {
    const server = createServer((_, answer) =>
      answer.writeHead(200, { [SERVICE_HEADER]: '1' }).end(),
    )
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    vi.stubEnv('HAVERSACK_URL', '')
    vi.stubEnv('HAVERSACK_PORT', String(port))
    vi.stubEnv('TMPDIR', mkdtempSync(join(folder, 'runs-')))
    makeTemporaryFolder()
    const { code, stdout } = await captureCli('status', '--json')
    server.close()
    expect(code).toBe(0)
    expect(JSON.parse(stdout).services).toContainEqual({
      url: `http://127.0.0.1:${port}`,
      runs: true,
    })
    expect(JSON.parse(stdout).runs).toEqual([process.pid])
    // A run alone is something that runs.
    vi.stubEnv('HAVERSACK_PORT', '9')
    expect((await captureCli('status')).stdout).toContain(`process ${process.pid}: an agent`)
    vi.unstubAllEnvs()
  })

  it('has the exit code 3 for another program', async () => {
    const server = createServer((_, answer) => answer.end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`
    const { code, stdout } = await captureCli('status', '--url', url)
    expect([code, stdout]).toEqual([3, expect.stringContaining('another program answers')])
    server.close()
  })
})
