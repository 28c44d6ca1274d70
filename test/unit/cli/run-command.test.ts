import { EventEmitter } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { baseUrls } from '../../../src/cli/run/base-urls.ts'
import { createSignalRelay } from '../../../src/cli/run/child.ts'
import { logErrorsOnly, logToFile } from '../../../src/cli/run/error-log.ts'
import { makeTemporaryFolder } from '../../../src/cli/run/temporary-folder.ts'
import { captureCli } from '../../support/capture.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-run-command-'))
afterAll(() => rmSync(folder, { recursive: true }))

const AT = 'http://127.0.0.1:1234/secret'
const VENDOR = 'https://api.anthropic.com'

describe('baseUrls', () => {
  it('sets both for the command and leaves the rest of its environment', () => {
    const env = { PATH: '/bin', LANG: 'C' }
    const { upstreams, environment } = baseUrls(env)
    expect(upstreams).toEqual({})
    expect(environment(AT, VENDOR)).toEqual({
      ...env,
      ANTHROPIC_BASE_URL: `${AT}/anthropic`,
      ANTHROPIC_API_BASE: `${AT}/anthropic`,
      OPENAI_BASE_URL: `${AT}/openai/v1`,
      OPENAI_API_BASE: `${AT}/openai/v1`,
      ENABLE_TOOL_SEARCH: 'true',
    })
    expect(env).toEqual({ PATH: '/bin', LANG: 'C' })
  })

  it.each([
    ['https://gateway/openai/v1', 'https://gateway/openai', '/v1', 'versioned'],
    ['https://gateway/v1/', 'https://gateway', '/v1', 'versioned'],
    ['https://gateway', 'https://gateway', '', 'as_sent'],
    ['http://localhost:11434/api/v4', 'http://localhost:11434/api/v4', '', 'as_sent'],
  ])('takes OPENAI_BASE_URL=%s for the upstream', (given, upstream, version, paths) => {
    const { upstreams, environment } = baseUrls({ OPENAI_BASE_URL: given })
    expect(upstreams).toEqual({ HAVERSACK_OPENAI_URL: upstream, HAVERSACK_OPENAI_PATHS: paths })
    expect(environment(AT, VENDOR)['OPENAI_BASE_URL']).toBe(`${AT}/openai${version}`)
  })

  it('takes a gateway for the upstream, and leaves to it what it can', () => {
    const { upstreams, environment } = baseUrls({
      ANTHROPIC_BASE_URL: 'https://gateway/a/',
      OPENAI_BASE_URL: '',
    })
    expect(upstreams).toEqual({ HAVERSACK_ANTHROPIC_URL: 'https://gateway/a' })
    expect(environment(AT, 'https://gateway/a')).not.toHaveProperty('ENABLE_TOOL_SEARCH')
    const chosen = { ENABLE_TOOL_SEARCH: 'auto:5' }
    expect(baseUrls(chosen).environment(AT, VENDOR)).toMatchObject(chosen)
  })

  it('takes the names of LiteLLM too, after those of the vendors', () => {
    const { upstreams, environment } = baseUrls({ OPENAI_API_BASE: 'https://gateway/v1' })
    expect(upstreams['HAVERSACK_OPENAI_URL']).toBe('https://gateway')
    expect(environment(AT, VENDOR)['OPENAI_API_BASE']).toBe(`${AT}/openai/v1`)
    const both = { ANTHROPIC_BASE_URL: 'https://a', ANTHROPIC_API_BASE: 'https://b' }
    expect(baseUrls(both).upstreams).toEqual({ HAVERSACK_ANTHROPIC_URL: 'https://a' })
  })

  it.each([['ftp://gateway'], ['gateway'], ['//gateway']])('refuses %s', value => {
    expect(() => baseUrls({ ANTHROPIC_BASE_URL: value })).toThrow(
      /^ANTHROPIC_BASE_URL (?:is no http or https URL|has no scheme)/,
    )
  })

  it.each([
    [{ HTTP_PROXY: 'http://web' }, '127.0.0.1', '127.0.0.1'],
    [{ all_proxy: 'http://web', NO_PROXY: 'a,b' }, 'a,b,127.0.0.1', 'a,b,127.0.0.1'],
    [{ https_proxy: 'http://web', NO_PROXY: 'a', no_proxy: 'b' }, 'a,127.0.0.1', 'b,127.0.0.1'],
    [{ HTTP_PROXY: '', NO_PROXY: 'a' }, 'a', undefined],
    [{}, undefined, undefined],
  ])('keeps a web proxy out of the way: %j', (env, upper, lower) => {
    const { NO_PROXY, no_proxy } = baseUrls(env).environment(AT, VENDOR)
    expect([NO_PROXY, no_proxy]).toEqual([upper, lower])
  })
})

describe('createSignalRelay', () => {
  function relayed(hasTerminal: boolean, platform: NodeJS.Platform = 'linux') {
    const from = new EventEmitter()
    const sent: unknown[] = []
    const relay = createSignalRelay({ from, hasTerminal: () => hasTerminal, platform })
    const child = { kill: (signal?: unknown) => sent.push(signal) > 0 }
    const raise = (...signals: string[]) => {
      for (const signal of signals) from.emit(signal, signal)
    }
    return { from, sent, relay, child, raise }
  }

  it('signals nothing on Windows, whose console has signalled the child already', () => {
    const { relay, child, sent, raise } = relayed(false, 'win32')
    relay.relayTo(child)
    raise('SIGINT', 'SIGBREAK', 'SIGHUP')
    expect(sent).toEqual([])
    relay.close()
  })

  it.each([
    [false, ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGINT']],
    [true, ['SIGTERM', 'SIGHUP']],
  ])('passes on what the child has not got (terminal: %s)', (hasTerminal, expected) => {
    const { sent, relay, child, raise } = relayed(hasTerminal)
    relay.relayTo(child)
    raise('SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGINT')
    expect(sent).toEqual(expected)
    expect(relay.pending).toBeNull()
  })

  it.each([[false], [true]])('keeps the first that comes before a child (%s)', hasTerminal => {
    const { sent, relay, raise } = relayed(hasTerminal)
    raise('SIGINT', 'SIGTERM')
    expect([relay.pending, sent]).toEqual(['SIGINT', []])
  })

  it('lets go of all signals', () => {
    const { from, relay } = relayed(false)
    expect(from.eventNames()).toHaveLength(5)
    relay.close()
    expect(from.eventNames()).toEqual([])
  })
})

describe('makeTemporaryFolder', () => {
  /** The name of a folder with another process in it. */
  const named = (path: string, place: RegExp, instead: string) =>
    join(folder, basename(path).replace(place, instead))
  /** Above every process id of Linux (2^22). */
  const GONE = '-99999999-'

  it('is for this user only', () => {
    expect(statSync(makeTemporaryFolder(folder)).mode & 0o777).toBe(0o700)
  })

  it('removes those of processes that are gone, with all that is in them, and no others', () => {
    const ours = makeTemporaryFolder(folder)
    const gone = named(ours, /-\d+-/, GONE)
    const elsewhere = named(ours, /[0-9a-f]{8}-\d+-/, `00000000${GONE}`)
    const target = join(folder, 'target')
    const link = named(ours, /-\d+-\w+$/, `${GONE}link`)
    const plain = named(ours, /-\d+-\w+$/, `${GONE}file`)
    for (const path of [gone, elsewhere, target]) mkdirSync(join(path, 'in'), { recursive: true })
    writeFileSync(join(gone, 'in', 'store'), 'x')
    writeFileSync(plain, 'x')
    symlinkSync(target, link)
    const second = makeTemporaryFolder(folder)
    expect(second).not.toBe(ours)
    const left = [ours, second, gone, elsewhere, join(target, 'in'), link, plain].map(existsSync)
    expect(left).toEqual([true, true, false, true, true, true, true])
  })
})

describe('the log', () => {
  it('counts errors, and keeps the first', () => {
    const log = logErrorsOnly()
    const logger = log.logger('debug')
    logger.warn('no matter')
    expect(log.errors()).toBeNull()
    logger.error({ err: new Error('the reason') }, 'what failed')
    logger.error({ detail: 'another' }, 'what failed next')
    expect(log.errors()).toEqual({ count: 2, first: 'what failed: the reason' })
    const third = logErrorsOnly()
    third.logger('info').error({ bug: 'Error: in a thread\n    at work' }, 'a bug')
    expect(third.errors()?.first).toBe('a bug: Error: in a thread')
    const other = logErrorsOnly()
    other.logger('silent').fatal('the end')
    expect(other.errors()).toEqual({ count: 1, first: 'the end' })
  })

  it('goes on in a file', () => {
    const path = join(folder, 'log')
    for (const text of ['one', 'two']) logToFile(path).logger('info').info(text)
    logToFile(path).logger('error').info('hidden')
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
    expect(lines.map(line => JSON.parse(line).msg)).toEqual(['one', 'two'])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('run', () => {
  it.each([[[]], [['--']], [['--port', '1', '--', 'true']], [['-x', 'true']]])(
    'takes %j for wrong usage',
    async options => {
      const { code, stdout, stderr } = await captureCli('run', ...options)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain('Try: haversack run --help')
    },
  )

  it('run explains itself with --help', async () => {
    const { code, stdout } = await captureCli('run', '--help')
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('Usage: haversack run [OPTIONS] [--] COMMAND'),
    ])
  })
})
