import { PassThrough } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { type StdioOptions, serveStdio } from '../../../src/mcp/fronts/stdio-front.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import type { EmbeddedService } from '../../../src/service/embedded/embedded.ts'
import { gatewayFactory } from '../../../src/service/mcp/stdio-gateway.ts'
import { eventually } from '../eventually.ts'

const logger = createLogger('silent')

export interface LinesOptions extends Partial<Pick<StdioOptions, 'context'>> {
  readonly deps: EmbeddedService['deps']
  /** The configuration, beside the servers. */
  readonly base: object
  readonly servers: object
}

/** A gateway in this process that is spoken to in lines, until the test has finished. */
export function openLines({ deps, base, servers, context }: LinesOptions) {
  const config = configSchema.parse({ ...base, mcp: { servers } })
  const [input, output] = [new PassThrough(), new PassThrough()]
  const stop = new AbortController()
  const served = serveStdio(input, output, {
    stop: stop.signal,
    version: '0',
    createGateway: gatewayFactory(config, deps, { env: process.env, logger }),
    ...(context === undefined ? {} : { context }),
  })
  onTestFinished(async () => {
    stop.abort()
    await served
  })
  const lines: string[] = []
  let rest = ''
  output.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop() as string
    lines.push(...parts)
  })
  return { lines, send: (line: string) => input.write(`${line}\n`) }
}

export interface LineClientOptions extends Omit<LinesOptions, 'deps'> {
  readonly service: EmbeddedService
  readonly clientInfo?: object
}

/** A client that writes lines to a gateway in this process, and reads lines. */
export async function connectLines({ service, clientInfo, ...options }: LineClientOptions) {
  const { lines, send } = openLines({ ...options, deps: service.deps })
  let last = 0
  const begin = (method: string, params: object = {}): number => {
    send(JSON.stringify({ jsonrpc: '2.0', id: ++last, method, params }))
    return last
  }
  const find = (id: number) =>
    lines.find(
      line => line.startsWith(`{"jsonrpc":"2.0","id":${id},`) && !line.includes('"method":'),
    )
  const answerTo = async (id: number) => {
    await eventually(() => expect(find(id)).toBeDefined())
    return JSON.parse(find(id) as string)
  }
  const request = (method: string, params: object = {}) => answerTo(begin(method, params))
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: clientInfo ?? { name: 'test', version: '1' },
  })
  return { lines, send, begin, answerTo, request }
}
