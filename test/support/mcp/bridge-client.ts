import { PassThrough } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { Bridge } from '../../../src/mcp/bridge/bridge.ts'
import { ServiceEndpoint } from '../../../src/mcp/bridge/service-endpoint.ts'
import { serveLines } from '../../../src/mcp/fronts/line-front.ts'
import type { Clock } from '../../../src/mcp/upstream/clock.ts'
import { eventually } from '../eventually.ts'
import { fastClock } from './fast-clock.ts'

/** A client in lines of a bridge in this process, until the test has finished. */
export function openBridge(
  url: string,
  { clock = fastClock(50), key }: { clock?: Clock; key?: string } = {},
) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const reachable: boolean[] = []
  const bugs: unknown[] = []
  const endpoint = new ServiceEndpoint({
    ...{ url: new URL(url), clock, onReachable: is => void reachable.push(is) },
    onBug: error => void bugs.push(error),
    headers: () => (key === undefined ? {} : { 'x-haversack-key': key }),
  })
  const stop = new AbortController()
  const served = serveLines(
    { input, output, stop: stop.signal },
    write => new Bridge(endpoint, write),
  )
  const close = async () => {
    input.end()
    await served
    expect(bugs).toEqual([])
  }
  onTestFinished(close)
  const lines: string[] = []
  let rest = ''
  output.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop() as string
    lines.push(...parts)
  })
  /** Waits for a line that contains the text. */
  const line = async (text: string): Promise<string> => {
    await eventually(() => expect(lines.join('\n')).toContain(text))
    return lines.find(each => each.includes(text)) as string
  }
  return { lines, line, reachable, close, send: (text: string) => void input.write(`${text}\n`) }
}

const INITIALIZE =
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",' +
  '"capabilities":{"roots":{}},"clientInfo":{"name":"x","version":"1.0","n":1.0}}}'

/** The same after the handshake of a client of 2025. */
export async function openLegacyBridge(...args: Parameters<typeof openBridge>) {
  const client = openBridge(...args)
  client.send(INITIALIZE)
  await client.line('"id":0')
  client.send('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  return client
}

const M = 'io.modelcontextprotocol/'

/** The `_meta` of a request of 2026-07-28. */
export const MODERN_META = `"_meta":{"${M}protocolVersion":"2026-07-28","${M}clientCapabilities":{}}`
