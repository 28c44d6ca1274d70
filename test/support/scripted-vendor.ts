import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { zstdDecompressSync } from 'node:zlib'
import { type DialectName, type Said, STREAMS, WHOLE } from './vendor-answers.ts'

/** One answer of the model, or an error of its vendor. */
export type Answer = readonly Said[] | { readonly status: number; readonly error: string }

export interface Received {
  readonly body: Record<string, unknown>
  readonly text: string
}

/** A vendor whose model says what the script says, in order. */
export interface ScriptedVendor {
  readonly url: string
  readonly received: readonly Received[]
  /** Sets the answers to the requests that follow. */
  script(...answers: readonly Answer[]): void
  close(): Promise<void>
}

/** @param cut how many bytes of a stream leave at once */
export async function startScriptedVendor(
  dialect: DialectName,
  { cut = () => 1_000_000 }: { readonly cut?: () => number } = {},
): Promise<ScriptedVendor> {
  const received: Received[] = []
  let answers: Answer[] = []
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const bytes = await buffer(incoming)
    const isCoded = incoming.headers['content-encoding'] === 'zstd'
    const read = readText(bytes, isCoded)
    if (read === null) return void outgoing.writeHead(400).end()
    const { text, body } = read
    received.push({ body, text })
    const next = answers.shift() ?? [{ text: 'The script is over.' }]
    if ('status' in next) {
      outgoing.writeHead(next.status, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify({ type: 'error', error: { type: next.error, message: 'no' } }))
      return
    }
    const id = `r${received.length}`
    if (body['stream'] !== true) {
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify(WHOLE[dialect](next, id)))
      return
    }
    outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
    const events = Buffer.from(STREAMS[dialect](next, id).join(''))
    for (let at = 0; at < events.length; ) {
      const end = at + Math.max(1, cut())
      outgoing.write(events.subarray(at, end))
      at = end
      await new Promise(resolve => setImmediate(resolve))
    }
    outgoing.end()
  }
  const server: Server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    script: (...next) => {
      answers = [...next]
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A request's body; `null` if it is not what its headers say. */
function readText(bytes: Buffer, isCoded: boolean): Received | null {
  try {
    const text = (isCoded ? zstdDecompressSync(bytes) : bytes).toString()
    return { text, body: JSON.parse(text) as Record<string, unknown> }
  } catch {
    return null
  }
}
