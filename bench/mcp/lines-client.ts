import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { LineReader } from '../../src/mcp/upstream/line-reader.ts'

/** A client of MCP over a pair of streams, without an SDK: it costs next to nothing. */
export interface LinesClient {
  /**
   * Resolves to the answer; never if the client vanishes before.
   * @param params a JSON text
   */
  request(method: string, params: string): Promise<Buffer>
  initialize(): Promise<void>
  /** Requests without an answer. */
  readonly open: number
}

/** A server in a process of its own. */
export interface Peer extends Pick<LinesClient, 'request'> {
  readonly pid: number
  close(): Promise<void>
}

const INITIALIZE = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
})

/** A client that writes to `input`, and reads from `output`. */
export function clientOver(input: Writable, output: Readable): LinesClient {
  const waiting = new Map<number, (answer: Buffer) => void>()
  const lines = new LineReader(1e9)
  let lastId = 0
  output.on('data', (chunk: Buffer) => {
    lines.push(chunk, line => {
      const id = idOf(line)
      waiting.get(id)?.(line)
      waiting.delete(id)
    })
  })
  const request = (method: string, params: string) =>
    new Promise<Buffer>(resolve => {
      const id = ++lastId
      waiting.set(id, resolve)
      input.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`)
    })
  return {
    request,
    async initialize() {
      await request('initialize', INITIALIZE)
      input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    },
    get open() {
      return waiting.size
    },
  }
}

/** Returns -1 for a message that answers nothing. The SDK writes the id last. */
function idOf(line: Buffer): number {
  const match =
    /"id":(\d+)/.exec(line.toString('latin1', 0, 60)) ??
    /"id":(\d+)\}$/.exec(line.toString('latin1', line.length - 40))
  return match === null ? -1 : Number(match[1])
}

/** Starts a server over stdio, and shakes hands. */
export async function startPeer(args: readonly string[]): Promise<Peer> {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const client = clientOver(child.stdin, child.stdout)
  await client.initialize()
  return {
    request: client.request,
    pid: child.pid!,
    async close() {
      const exited = once(child, 'exit')
      child.stdin.end()
      const limit = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await exited
      clearTimeout(limit)
    },
  }
}

let nonces = 0
/** Twelve letters and digits, so that it may stand in base64. */
export const nextNonce = () => `nonce${String(++nonces).padStart(7, '0')}`
