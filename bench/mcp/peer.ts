import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request as open } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { LineReader } from '../../src/mcp/upstream/line-reader.ts'

/** A server of MCP as a client of 2025 sees it, without an SDK: it costs next to nothing. */
export interface Peer {
  /** Processes whose time is told beside the figures, by name. */
  readonly pids: Readonly<Record<string, number>>
  /**
   * Sends one request, resolves to the whole answer.
   * @param params a JSON text
   */
  request(method: string, params: string): Promise<Buffer>
  close(): Promise<void>
}

/** Parameters of a handshake. */
export const INITIALIZE = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
})

/** Calls a tool. Throws if the answer is not this call's. */
export async function callTool(peer: Peer, tool: string, nonce: string): Promise<Buffer> {
  const params = `{"name":"${tool}","arguments":{"nonce":"${nonce}"}}`
  const answer = await peer.request('tools/call', params)
  if (!answer.includes(nonce)) throw new Error(`another answer: ${answer.toString('utf8', 0, 300)}`)
  return answer
}

/** A client of 2025 over Streamable HTTP, with kept connections and a session. */
export async function openHttpPeer(
  url: string,
  pids: Readonly<Record<string, number>> = {},
): Promise<Peer> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  let session: string | undefined
  let lastId = 0
  const post = (message: string) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = open(url, {
        ...{ method: 'POST', agent },
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(message),
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-11-25',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
      })
      outgoing.on('response', resolve).on('error', reject).end(message)
    })
  const request = async (method: string, params: string) => {
    const answer = await post(
      `{"jsonrpc":"2.0","id":${++lastId},"method":"${method}","params":${params}}`,
    )
    const given = answer.headers['mcp-session-id']
    if (typeof given === 'string') session = given
    const body = await buffer(answer)
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}: ${body}`)
    return body
  }
  await request('initialize', INITIALIZE)
  const accepted = await post('{"jsonrpc":"2.0","method":"notifications/initialized"}')
  await buffer(accepted)
  return { pids, request, close: async () => agent.destroy() }
}

interface StdioCommand {
  readonly args: readonly string[]
  /** What its processor time is told as. */
  readonly name: string
}

/** Starts a server over stdio, and shakes hands. */
export async function startStdioPeer({ args, name }: StdioCommand): Promise<Peer> {
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting = new Map<number, (answer: Buffer) => void>()
  const lines = new LineReader(1e9)
  child.stdout.on('data', (chunk: Buffer) => {
    lines.push(chunk, line => {
      const id = idOf(line)
      const settle = waiting.get(id)
      waiting.delete(id)
      settle?.(line)
    })
  })
  let lastId = 0
  const request = (method: string, params: string) =>
    new Promise<Buffer>(resolve => {
      const id = ++lastId
      waiting.set(id, resolve)
      child.stdin.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`)
    })
  await request('initialize', INITIALIZE)
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  return { pids: { [name]: child.pid ?? 0 }, request, close: () => end(child) }
}

/** -1 for a message that answers nothing. The SDK writes the id last. */
function idOf(line: Buffer): number {
  const match =
    /"id":(\d+)/.exec(line.toString('latin1', 0, 60)) ??
    /"id":(\d+)\}$/.exec(line.toString('latin1', line.length - 40))
  return match === null ? -1 : Number(match[1])
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  child.stdin?.end()
  const limit = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await exit
  clearTimeout(limit)
}
