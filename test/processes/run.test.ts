import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { runChild } from '../../src/cli/run/child.ts'
import { CONVERSATIONS } from '../integration/service/proxy-conversations.ts'
import {
  answerOk,
  type RecordingUpstream,
  recordingUpstream,
} from '../integration/service/recording-upstream.ts'
import { captureCli } from '../support/capture.ts'
import { killAll, startRun } from './run-process.ts'

let upstream: RecordingUpstream
/** Stands for the folder of temporary files, so that what is left there is seen. */
let folder: string

beforeAll(async () => {
  upstream = await recordingUpstream()
})

beforeEach(() => {
  upstream.answerWith(answerOk)
  folder = mkdtempSync(join(tmpdir(), 'haversack-test-run-'))
  vi.stubEnv('TMPDIR', folder)
  vi.stubEnv('HAVERSACK_WORKERS', '1')
  vi.stubEnv('ANTHROPIC_BASE_URL', upstream.url)
  vi.stubEnv('OPENAI_BASE_URL', `${upstream.url}/gateway/v1`)
})

afterEach(() => {
  vi.unstubAllEnvs()
  killAll()
  rmSync(folder, { recursive: true, force: true })
})

afterAll(() => upstream.close())

/** Folders that runs have made and not removed. */
const left = () => readdirSync(folder).filter(name => name.startsWith('haversack-run-'))

const node = (script: string) => ['--', process.execPath, '-e', script]

/**
 * Runs a script in this process's `haversack run`; what it has to say, it writes to the file `out`.
 */
async function run(script: string, ...options: string[]) {
  const out = join(folder, 'out')
  const printed = await captureCli(
    'run',
    '--no-texts',
    ...options,
    ...node(script.replaceAll('OUT', out)),
  )
  return { ...printed, out: existsSync(out) ? readFileSync(out, 'utf8') : null }
}

async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  } finally {
    socket.destroy()
  }
}

/**
 * Sends the bodies in the files given as arguments, and prints what the vendors' clients would be
 * told.
 */
const SEND = `
const { readFileSync } = require('node:fs')
const { ANTHROPIC_BASE_URL: a, OPENAI_BASE_URL: o } = process.env
const headers = { 'content-type': 'application/json', 'x-api-key': 'k', 'x-claude-code-session-id': 's1' }
async function send(url, file) {
  const answer = await fetch(url, { method: 'POST', headers, body: readFileSync(file) })
  return [answer.status, await answer.text()]
}
(async () => {
  const [first, second] = process.argv.slice(1)
  const secret = new URL(a).pathname.split('/')[1]
  const status = async path => (await fetch(new URL(path, a))).status
  const answers = [await send(a + '/v1/messages', first), await send(o + '/chat/completions', second)]
  const others = []
  for (const path of ['/metrics', '/livez', '/openapi.json', '/anthropic/v1/models', '/v1/savings',
    '/' + secret + '/metrics', '/' + 'f'.repeat(32) + '/anthropic/v1/models',
    '/' + 'f'.repeat(32) + '/v1/savings'])
    others.push(await status(path))
  // As a status line asks, and the command of the plugin. An answer is accounted for after its end.
  const asked = new URL(a.replace(/anthropic$/, 'v1/savings?session=s1'))
  let saved
  do saved = (await (await fetch(asked)).json()).session.requests
  while (saved < 2)
  const posted = (await fetch(asked, { method: 'POST' })).status
  console.log(JSON.stringify({ a, o, answers, others, saved, posted, home: process.env.HOME }))
  process.exit(3)
})()`

/** What it says before the command starts. */
const FIRST =
  'haversack: after pauses old results leave the prompt; the model can fetch them (--lossless keeps them)'

describe('haversack run', () => {
  it('stands between a command and its gateways, and leaves nothing', async () => {
    const bodies = [CONVERSATIONS['anthropic'], CONVERSATIONS['chat']].map((conversation, n) => {
      const file = join(folder, `body-${n}`)
      writeFileSync(file, conversation?.body(2) ?? '')
      return file
    })
    const log = join(folder, 'log')
    const args = ['--summary', '--log', log, ...node(SEND), ...bodies]
    const { ended, stdout, stderr } = startRun(args, {})
    expect(await ended).toBe(3)
    const said = JSON.parse(stdout())
    expect(said.a).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/anthropic$/)
    expect(said.o).toBe(said.a.replace(/anthropic$/, 'openai/v1'))
    expect(said.home).toBe(process.env['HOME'])
    expect(said.answers).toEqual([
      [200, '{"ok": true}'],
      [200, '{"ok": true}'],
    ])
    expect(said.others).toEqual(Array(8).fill(404))
    expect([said.saved, said.posted]).toEqual([2, 405])

    expect(upstream.requests.map(({ line }) => line)).toEqual([
      'POST /v1/messages',
      'POST /gateway/v1/chat/completions',
    ])
    for (const [n, file] of bodies.entries()) {
      const got = upstream.requests[n]?.body.toString()
      const { stdout: checked } = await captureCli('proxy', '--check', file, '--show', '--json')
      const { texts, bytes_after } = JSON.parse(checked)
      expect(texts).toHaveLength(3)
      for (const { text } of texts) expect(got).toContain(JSON.stringify(text))
      expect(got?.length).toBe(bytes_after)
    }

    expect(stderr().split('\n')).toEqual([
      FIRST,
      expect.stringMatching(
        /^haversack: results: {2}[1-9][\d,]* → [1-9][\d,]* tokens \(−[\d.]+ %\) in 6 tool results, each once$/,
      ),
      expect.stringMatching(/^haversack: requests: unknown, .* in 2 model requests$/),
      expect.stringMatching(/^haversack: billed: {3}unknown, /),
      '',
    ])
    const lines = readFileSync(log, 'utf8')
    expect(lines).toContain('"route":"/:secret/anthropic/*"')
    expect(lines).not.toContain(new URL(said.a).pathname.split('/')[1])
    expect(await isRefused(said.a)).toBe(true)
    expect(left()).toEqual([])
  })

  it('tells Codex on its command line, and what Codex starts nothing', async () => {
    const codex = join(folder, 'codex')
    const script = `#!${process.execPath}
const [, , flag, setting, ...rest] = process.argv
const url = JSON.parse(setting.replace('openai_base_url=', ''))
const { OPENAI_BASE_URL } = process.env
const headers = { 'content-type': 'application/json' }
fetch(url + '/responses', { method: 'POST', headers, body: rest[1] }).then(({ status }) =>
  console.log(JSON.stringify({ flag, rest: rest[0], status, OPENAI_BASE_URL })))`
    writeFileSync(codex, script, { mode: 0o755 })
    const home = join(folder, 'home')
    mkdirSync(home)
    writeFileSync(join(home, 'config.toml'), `openai_base_url = "${upstream.url}/of-codex/v1"\n`)
    const body = CONVERSATIONS['responses']?.body(2) ?? ''
    const { ended, stdout, stderr } = startRun(['--summary', '--', codex, 'exec', body], {
      CODEX_HOME: home,
    })
    expect(await ended).toBe(0)
    expect(JSON.parse(stdout())).toEqual({
      ...{ flag: '-c', rest: 'exec', status: 200 },
      OPENAI_BASE_URL: `${upstream.url}/gateway/v1`,
    })
    expect(upstream.last().line).toBe('POST /of-codex/v1/responses')
    expect(upstream.last().body.length).toBeLessThan(body.length)
    expect(stderr()).toMatch(/^haversack: requests: .* in 1 model requests$/m)
  })

  it('says where nothing came by', async () => {
    const { ended, stderr } = startRun(['--summary', ...node('0')], {})
    expect(await ended).toBe(0)
    expect(stderr()).toMatch(
      / no model request came. If the command made one: it may have its base URL from somewhere else$/m,
    )
  })

  it('names the setting of an agent that ended with an error before it asked its model', async () => {
    const gemini = join(folder, 'gemini')
    writeFileSync(gemini, `#!${process.execPath}\nprocess.exit(41)`, { mode: 0o755 })
    const failed = startRun(['--', gemini], {})
    expect(await failed.ended).toBe(41)
    expect(failed.stderr()).toMatch(/\nhaversack: no model request came.*\.selectedType in .*\n$/)
    writeFileSync(gemini, `#!${process.execPath}\n`, { mode: 0o755 })
    const fine = startRun(['--', gemini], {})
    expect(await fine.ended).toBe(0)
    expect(fine.stderr()).toBe(`${FIRST}\n`)
  })

  it('ends with 128 and the number of the signal that killed the command', async () => {
    const environment = { ...process.env }
    const { code, stdout, stderr } = await run('process.kill(process.pid, "SIGKILL")')
    expect([code, stdout, stderr]).toEqual([137, '', `${FIRST}\n`])
    expect(left()).toEqual([])
    expect(process.env).toEqual(environment)
    expect(process.listenerCount('SIGQUIT')).toBe(0)
  })

  it('tells a command that is not there from one that cannot be run', async () => {
    const file = join(folder, 'plain')
    writeFileSync(file, 'x')
    chmodSync(file, 0o644)
    const missing = join(folder, 'none')
    const none = await captureCli(
      'run',
      '--no-texts',
      '--lossless',
      '--summary',
      '--',
      missing,
      '--help',
    )
    expect([none.code, none.stderr]).toEqual([127, `haversack: ${missing}: not found\n`])
    expect(left()).toEqual([])
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    expect(await runChild([file], process.env, { relayTo() {} })).toBe(126)
    expect(written).toHaveBeenCalledWith(expect.stringContaining('EACCES'))
    written.mockRestore()
  })

  it.each([
    ['a configuration that cannot be used', { HAVERSACK_LOG_LEVEL: 'loud' }, [], /log\.level/],
    [
      'a base URL that is none',
      { OPENAI_BASE_URL: 'gateway' },
      [],
      /OPENAI_BASE_URL has no scheme/,
    ],
    [
      'a log that cannot be written',
      {},
      ['--log', '/dev/null/log'],
      /leads through what is no folder/,
    ],
  ])('does not start the command with %s', async (_, env, options, reason) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const { code, stdout, stderr, out } = await run('fs.writeFileSync("OUT", "")', ...options)
    expect([code, stdout, out]).toEqual([125, '', null])
    expect(stderr).toMatch(reason)
    expect(left()).toEqual([])
  })

  it('does not start the command once it is told to end', async () => {
    const ended = run('fs.writeFileSync("OUT", "")')
    while (!process.emit('SIGQUIT', 'SIGQUIT')) await new Promise(setImmediate)
    expect(await ended).toMatchObject({ code: 131, out: null })
    expect(left()).toEqual([])
  })

  it('keeps what the proxy remembers where it is told to, and goes to configured upstreams', async () => {
    const data = join(folder, 'data')
    vi.stubEnv('ANTHROPIC_BASE_URL', '')
    vi.stubEnv('HAVERSACK_ANTHROPIC_URL', `${upstream.url}/configured`)
    const asked = await run(
      'fetch(process.env.ANTHROPIC_BASE_URL + "/v1/models")',
      '--data-dir',
      data,
    )
    expect(asked.code).toBe(0)
    expect(upstream.last().line).toBe('GET /configured/v1/models')
    expect(readdirSync(data)).not.toEqual([])
    expect(left()).toEqual([])
  })

  it('does not wait for what others have under way when the command has ended', async () => {
    const asked = Promise.withResolvers<void>()
    upstream.answerWith(() => asked.resolve())
    const other = 'fetch(process.env.ANTHROPIC_BASE_URL + "/v1/models").catch(() => {})'
    const script = `
      require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(other)}],
        { detached: true, stdio: 'ignore' })
      process.on('SIGTERM', () => process.exit(5))
      setInterval(() => {}, 60_000)`
    const { process: own, ended } = startRun(node(script), {})
    await asked.promise
    own.kill('SIGTERM')
    expect(await ended).toBe(5)
    expect(left()).toEqual([])
  })

  it('counts errors of the proxy at the end', async () => {
    const data = join(folder, 'file')
    writeFileSync(data, '')
    const { code, stderr } = await run('process.exit(4)', '--data-dir', data)
    expect(code).toBe(4)
    expect(stderr).toMatch(/\nhaversack: an error: the store cannot be opened; .*\(--log FILE/)
  })
})

/** Says what it is sent, and ends as it is told. */
const LISTENER = `
let interrupts = 0
process.on('SIGINT', () => console.log('interrupt ' + ++interrupts))
process.on('SIGTERM', () => process.exit(40 + interrupts))
setInterval(() => {}, 60_000)
console.log('ready ' + process.env.ANTHROPIC_BASE_URL)`

const WAITER = `setInterval(() => {}, 60_000); console.log('ready ' + process.env.ANTHROPIC_BASE_URL)`

describe('signals', () => {
  it('go to the command, each once, and it decides', async () => {
    const { process: own, line, ended } = startRun(node(LISTENER), {})
    const url = (await line('ready ')).slice('ready '.length)
    own.kill('SIGINT')
    await line('interrupt 1')
    expect(await isRefused(url)).toBe(false)
    own.kill('SIGTERM')
    expect(await ended).toBe(41)
    expect(await isRefused(url)).toBe(true)
    expect(left()).toEqual([])
  })

  it('that cannot be caught leave a folder, which the next one removes, and no other', async () => {
    const [killed, living] = [startRun(node(WAITER), {}), startRun(node(WAITER), {})]
    await Promise.all([killed.line('ready '), living.line('ready ')])
    const folderOf = (pid: number | undefined) => left().filter(name => name.includes(`-${pid}-`))
    const [orphan = ''] = folderOf(killed.process.pid)
    expect(statSync(join(folder, orphan)).mode & 0o777).toBe(0o700)
    const kept = folderOf(living.process.pid)
    expect(kept).toHaveLength(1)
    const gone = once(killed.process, 'exit')
    killed.process.kill('SIGKILL')
    await gone
    expect(existsSync(join(folder, orphan))).toBe(true)
    expect((await run('')).code).toBe(0)
    expect(left()).toEqual(kept)
    living.process.kill('SIGHUP')
    expect(await living.ended).toBe(129)
    expect(left()).toEqual([])
  })
})
