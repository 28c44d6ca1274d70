import type { Readable, Writable } from 'node:stream'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { CARRIAGE_RETURN } from '../../core/json/char-codes.ts'
import { Guard } from '../../proxy/guard.ts'
import {
  errorOutcome,
  type Message,
  RPC_ERRORS,
  readMessage,
  readRequestId,
  writeResponse,
} from '../json-rpc.ts'
import { LineReader, singleLine } from '../upstream/line-reader.ts'
import { MessageIntake } from './message-intake.ts'

/** Bytes of one message of the client. */
const MAX_MESSAGE_BYTES = 100 * 1024 * 1024

/** Bytes that the client has not read. */
const MAX_UNREAD_BYTES = 256 * 1024 * 1024

/** What serves the client of a pair of streams. */
export interface LineSession {
  /**
   * @param line the bytes of the message
   * @returns the answer to a request; `null` if there is none to send
   */
  receive(message: Message, line: JsonBytes): Promise<JsonBytes | null>
  close(): Promise<void>
}

export interface LineOptions {
  readonly input: Readable
  readonly output: Writable
  /** Ends it from outside. */
  readonly stop: AbortSignal
}

/**
 * Serves one client on a pair of streams, a message a line, until its input ends or its output is
 * gone. Never rejects.
 * @param open makes the session; `write` sends a message to the client
 */
export async function serveLines(
  { input, output, stop }: LineOptions,
  open: (write: (message: JsonBytes) => void) => LineSession,
): Promise<void> {
  const ended = Promise.withResolvers<void>()
  const write = (message: JsonBytes | null) => {
    if (message === null || !output.writable) return
    output.write(Buffer.concat([singleLine(message), LINE_FEED]))
    // A client that does not read counts as gone.
    if (output.writableLength > MAX_UNREAD_BYTES) ended.resolve()
  }
  const session = open(write)
  const lines = new LineReader(MAX_MESSAGE_BYTES)
  const end = () => ended.resolve()
  // What a handler throws ends this client, and its servers in order.
  const guard = new Guard(end)
  const read = (line: JsonBytes) => {
    const message = readMessage(line)
    if (message === null) write(unreadable(line))
    else void session.receive(message, line).then(write, end)
  }
  const intake = new MessageIntake(input, guard.wrap(read))
  guard.on(input, 'data', (chunk: Buffer) => {
    const isReadable = lines.push(chunk, line => {
      if (line.length > 1 || line[0] !== CARRIAGE_RETURN) intake.take(line)
    })
    if (!isReadable) end()
  })
  guard.on(input, 'end', () => intake.afterAll(end))
  guard.on(input, 'close', end)
  guard.on(input, 'error', end)
  guard.on(output, 'error', end)
  guard.on(output, 'close', end)
  if (stop.aborted) end()
  stop.addEventListener('abort', end)
  await ended.promise
  stop.removeEventListener('abort', end)
  // An open input would keep the process.
  input.destroy()
  await session.close()
}

/** The answer to a line that is no message. */
function unreadable(line: JsonBytes): JsonBytes {
  const id = readRequestId(line)
  const code = id === null ? RPC_ERRORS.parse : RPC_ERRORS.invalidRequest
  return writeResponse(id, errorOutcome(code, 'one message of JSON-RPC 2.0 a line is wanted'))
}

const LINE_FEED = Buffer.from('\n')
