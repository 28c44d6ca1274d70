import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readEvent } from '../../../src/cli/hook/called-by-agent.ts'
import { readText } from '../../../src/core/base/read-text.ts'
import { unwrapped } from '../../../src/core/conversation/usage/usage-reader.ts'
import { createSink } from '../../../src/http/request/body.ts'
import { readWhole } from '../../../src/mcp/upstream/http-exchange.ts'
import { LineReader } from '../../../src/mcp/upstream/line-reader.ts'
import { SseReader } from '../../../src/mcp/upstream/sse-reader.ts'
import type { Ticket } from '../../../src/pool/admission.ts'
import { Guard } from '../../../src/proxy/guard.ts'
import { FrameReader } from '../../../src/proxy/websocket/frame-reader.ts'
import { OPCODES, writeFrame } from '../../../src/proxy/websocket/frames.ts'
import { runs } from '../../support/runs.ts'
import { someOf } from '../../support/short-runs.ts'

const BOUND = 64 * 1024 * 1024
const TICKET = { grow() {} } as unknown as Ticket

/** What a peer may send us, and what we read of it. A text has no line breaks. */
interface Ingress {
  wire(text: string): Buffer
  read(chunks: Iterable<Buffer>): Promise<string> | string
}

const plain = (text: string) => Buffer.from(text)

const INGRESSES: Readonly<Record<string, Ingress>> = {
  'a body of a client': {
    wire: plain,
    read(chunks) {
      const sink = createSink(null, BOUND, TICKET)
      for (const chunk of chunks) sink.add(chunk)
      return Buffer.from(sink.end()).toString()
    },
  },
  'an answer of a service': {
    wire: plain,
    read: chunks => readText(arriving(chunks), BOUND),
  },
  'an event of an agent': {
    wire: plain,
    read: chunks => {
      const input = arriving(chunks) as unknown as Readable
      return readEvent(input, new AbortController().signal)
    },
  },
  'a body of an MCP server': {
    wire: plain,
    async read(chunks) {
      const answer = Readable.from(chunks, { objectMode: true }) as unknown as IncomingMessage
      return (await readWhole(answer, new Guard(fail), BOUND)).toString()
    },
  },
  'a line of an MCP server': {
    wire: text => Buffer.from(`${text}\n`),
    read(chunks) {
      const lines: string[] = []
      const reader = new LineReader(BOUND)
      for (const chunk of chunks) reader.push(chunk, line => lines.push(line.toString()))
      return lines.join('')
    },
  },
  'an event of an MCP server': {
    wire: text => Buffer.from(`data: ${text}\n\n`),
    read(chunks) {
      const events: string[] = []
      const reader = new SseReader(BOUND, ({ data }) => events.push(data.toString()))
      for (const chunk of chunks) reader.push(chunk)
      return events.join('')
    },
  },
  'an event of an MCP server in lines of one byte': {
    wire: text =>
      Buffer.from(`data: ${[...Buffer.from(text, 'utf8').toString('hex')].join('\ndata: ')}\n\n`),
    read(chunks) {
      const events: string[] = []
      const reader = new SseReader(BOUND, ({ data }) => events.push(data.toString('latin1')))
      for (const chunk of chunks) reader.push(chunk)
      return Buffer.from(events.join('').replaceAll('\n', ''), 'hex').toString()
    },
  },
  'an event of a vendor in frames': {
    wire: text => Buffer.from(`{"bytes":"${Buffer.from(text).toString('base64')}"}`),
    read(chunks) {
      let read = ''
      const reader = unwrapped({
        data(bytes) {
          read += Buffer.from(bytes).toString()
        },
        end() {},
      })
      for (const chunk of chunks) reader.data(chunk)
      reader.end()
      return read
    },
  },
  'a control frame of a WebSocket': {
    wire: text => writeFrame(OPCODES.ping, Buffer.from(text).subarray(0, 120)),
    read(chunks) {
      const reader = new FrameReader(false)
      let read = ''
      for (const chunk of chunks) {
        reader.feed(chunk)
        const next = reader.next()
        if (next?.kind === 'control') read = next.bytes.toString()
      }
      return read
    },
  },
}

/** A stream without Node's buffers, which keep something of each chunk. */
async function* arriving(chunks: Iterable<Buffer>): AsyncGenerator<Buffer> {
  yield* chunks
}

function fail(error: unknown): never {
  throw error
}

const TEXT = fc.string({
  unit: fc.constantFrom('a', 'é', '日', '"', '{', ' ', '0'),
  minLength: 1,
  maxLength: 40,
})
const CUTS = fc.array(fc.nat(), { maxLength: 12 })

function* cut(bytes: Buffer, cuts: readonly number[]): Generator<Buffer> {
  const at = [0, ...cuts.map(each => each % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  // Copies, as a socket gives them.
  for (const [n, end] of at.slice(1).entries()) {
    const chunk = Buffer.from(bytes.subarray(at[n], end))
    if (chunk.length > 0) yield chunk
  }
}

function* bytewise(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at++) yield bytes.subarray(at, at + 1)
}

function* enumerated(bytes: Buffer): Generator<[at: number, chunk: Buffer]> {
  for (let at = 0; at < bytes.length; at++) yield [at, bytes.subarray(at, at + 1)]
}

const used = () => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers

const CASES = Object.entries(INGRESSES)

describe('what arrives in chunks', () => {
  it.each(CASES)('is the same however it is cut: %s', async (_, { wire, read }) => {
    await fc.assert(
      fc.asyncProperty(TEXT, CUTS, async (text, cuts) => {
        const bytes = wire(text)
        const whole = await read([Buffer.from(bytes)])
        expect(await read(cut(bytes, cuts))).toBe(whole)
        expect(await read(bytewise(bytes))).toBe(whole)
      }),
      { numRuns: runs(300) },
    )
  })

  it.each(someOf(CASES, 3))(
    'takes no more memory in parts of one byte than its bytes: %s',
    async (name, { wire, read }) => {
      // A list of so many chunks would take 80 MiB and more.
      const bytes = wire('x'.repeat(name.includes('frame') ? 100 : 1 << 19)).subarray(0, 1 << 20)
      const before = used()
      let most = 0
      const watched = function* () {
        for (const [at, one] of enumerated(bytes)) {
          if (at % 65_536 === 0) most = Math.max(most, used() - before)
          yield one
        }
      }
      await read(watched())
      expect(most).toBeLessThan(48 * 1024 * 1024)
    },
  )
})
