import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { LineReader } from '../../src/mcp/upstream/line-reader.ts'
import { INITIALIZE, type Peer } from './peer.ts'

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
