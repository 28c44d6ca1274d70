import { PassThrough } from 'node:stream'
import { LineReader } from '../../src/mcp/upstream/line-reader.ts'
import { INITIALIZE } from './peer.ts'

/** A client over a pair of streams in this process. */
export interface LinesClient {
  readonly input: PassThrough
  readonly output: PassThrough
  /** Resolves to the answer; never if the client vanishes before. */
  request(method: string, params: string): Promise<Buffer>
  initialize(): Promise<void>
  /** As if its process was killed: nothing is sent or read any more. */
  vanish(): void
  /** Requests without an answer. */
  readonly open: number
}

export function createLinesClient(): LinesClient {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const waiting = new Map<number, (answer: Buffer) => void>()
  const lines = new LineReader(1e9)
  let lastId = 0
  output.on('data', (chunk: Buffer) => {
    lines.push(chunk, line => {
      const id = Number(/^\{"jsonrpc":"2.0","id":(\d+),/.exec(line.toString('latin1', 0, 60))?.[1])
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
    input,
    output,
    request,
    async initialize() {
      await request('initialize', INITIALIZE)
      input.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    },
    vanish() {
      input.destroy()
      output.destroy()
    },
    get open() {
      return waiting.size
    },
  }
}
