import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { AppError } from '../../../src/core/base/errors.ts'
import { decode, encode } from '../../../src/index.ts'
import { serveStdio } from '../../../src/mcp/fronts/stdio-front.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { type EmbeddedService, startEmbedded } from '../../../src/service/embedded/embedded.ts'
import { gatewayFactory } from '../../../src/service/mcp/stdio-gateway.ts'
import { ANY_SAVING_FILE } from '../../support/any-saving.ts'
import { eventually } from '../../support/eventually.ts'
import { createLocalClient } from '../../support/mcp/local-client.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'

const LOG = Array.from({ length: 2000 }, (_, i) => `10:00:0${i % 10} INFO request ${i} served`)
const RESULT = `{"content":[{"type":"text","text":${JSON.stringify(LOG.join('\n'))}}]}`

const folder = mkdtempSync(join(tmpdir(), 'haversack-mcp-faults-'))
const base = {
  data_dir: folder,
  workers: { count: 1 },
  limits: { drain_grace_ms: 0 },
}
const withFile = () => ({ ...configSchema.parse(base), pipeline_config_file: ANY_SAVING_FILE })
const logger = createLogger('silent')

let service: EmbeddedService
let upstream: RecordingUpstream
beforeAll(async () => {
  service = await startEmbedded(withFile(), logger)
  upstream = await RecordingUpstream.start({ era: 'legacy' })
})
afterAll(async () => {
  await upstream.close()
  await service.close()
  rmSync(folder, { recursive: true })
})

/** A client of a gateway whose server's results may have parts left out. */
async function connect(deps: EmbeddedService['deps'] = service.deps) {
  const log = { ...upstream.stdio.command(), mode: 'elide' }
  const config = configSchema.parse({ ...base, mcp: { servers: { log } } })
  const client = createLocalClient()
  const served = serveStdio(client.input, client.output, {
    stop: new AbortController().signal,
    version: '0',
    createGateway: gatewayFactory(config, deps, { env: process.env, logger }),
  })
  onTestFinished(async () => {
    client.vanish()
    await served
  })
  await client.initialize()
  const call = async (
    name: string,
    args: object = {},
  ): Promise<{ text: string; isError: boolean }> => {
    const answer = await client.request('tools/call', JSON.stringify({ name, arguments: args }))
    const { content, isError = false } = JSON.parse(answer.toString()).result
    return { text: content[0].text, isError }
  }
  return { call }
}

const hashIn = (text: string) => /hash=([^\s\]]+)/.exec(text)?.[1]

describe('a server that is killed in the middle of a call', () => {
  it('ends the call with an error, and answers the next one', async () => {
    const { call } = await connect()
    upstream.on('tools/call', () => {})
    const calls = upstream.callsOf('tools/call').length
    const hanging = call('echo')
    await eventually(() => expect(upstream.callsOf('tools/call')).toHaveLength(calls + 1))
    ;[...upstream.stdio.processes].at(-1)?.channel.die()
    const { text, isError } = await hanging
    expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining('log') })
    upstream.on('tools/call', exchange =>
      exchange.result('{"content":[{"type":"text","text":"x"}]}'),
    )
    expect(await call('echo')).toEqual({ text: 'x', isError: false })
  })
})

describe.each([
  ['does not answer', new AppError('overloaded', 'gone'), true],
  ['has no room', new AppError('internal', 'the disk is full'), true],
  ['fails in another way', new Error('a bug'), false],
])('a store that %s', (_, error, isPacked) => {
  it('lets results through without a hint', async () => {
    upstream.on('tools/call', exchange => exchange.result(RESULT))
    const originals = { ...service.deps.originals, keep: () => Promise.reject(error) }
    const { call } = await connect({ ...service.deps, originals })
    const { text } = await call('echo')
    expect(hashIn(text)).toBeUndefined()
    const content = LOG.join('\n')
    const { format } = encode({ content })
    expect(text === content).toBe(!isPacked)
    expect(isPacked ? decode({ content: text, format }).content : text).toBe(content)
  })
})

describe('threads that are lost', () => {
  it('let results through unchanged', async () => {
    upstream.on('tools/call', exchange => exchange.result(RESULT))
    const problem = { code: 'worker_lost', detail: '' } as const
    const pool = {
      ...service.deps.pool,
      run: async () => ({ ok: false, problem, queue_ms: 0, work_ms: 0 }) as const,
    }
    const { call } = await connect({ ...service.deps, pool })
    expect((await call('echo')).text).toBe(LOG.join('\n'))
  })
})

describe('two gateways on one data folder', () => {
  it('can each fetch what the other left out', async () => {
    const other = await startEmbedded(withFile(), logger)
    onTestFinished(() => other.close())
    upstream.on('tools/call', exchange => exchange.result(RESULT))
    const [one, two] = [await connect(), await connect(other.deps)]
    const hash = hashIn((await one.call('echo')).text)
    expect(hash).toBeDefined()
    expect(hashIn((await two.call('echo')).text)).toBe(hash)
    for (const { call } of [one, two]) {
      const { text } = await call('haversack_retrieve', { hash, lines: '700-701' })
      expect(text).toContain('request 700 served')
    }
  })
})
