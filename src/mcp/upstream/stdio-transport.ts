import type { Writable } from 'node:stream'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { Guard } from '../../proxy/guard.ts'
import { MessageIntake } from '../fronts/message-intake.ts'
import { readMessage } from '../json-rpc.ts'
import type { Clock } from './clock.ts'
import { LineReader, singleLine } from './line-reader.ts'
import type { Link, LinkEvents, LinkFailure, LinkRequest } from './link.ts'
import type { ServerTarget, UpstreamLimits } from './options.ts'
import { MOST_WAITING } from './send-queue.ts'
import { ServerProcess, whyNotStarted } from './server-process.ts'

interface Letter {
  readonly message: JsonBytes
  /** The id of a request; `null` for any other message. */
  readonly callId: number | null
  readonly onSent: () => void
}

/** Messages on their way to a child that may read slowly, one a line. */
export class Outbox {
  readonly #stream: Writable
  readonly #maxBytes: number
  readonly #waiting: Letter[] = []
  #bytes = 0
  #isFull = false
  #isStopped = false

  constructor(stream: Writable, maxBytes: number, guard: Guard) {
    this.#stream = stream
    this.#maxBytes = maxBytes
    guard.on(stream, 'drain', () => {
      this.#isFull = false
      this.#flush()
    })
  }

  /**
   * @param onSent called when the message is on its way, or will never be
   * @returns `false` if too much waits already: the message is not taken
   */
  add(message: JsonBytes, callId: number | null, onSent: () => void): boolean {
    if (this.#isStopped || this.#bytes + message.length > this.#maxBytes) return false
    // Requests have a bound where they come from.
    if (callId === null && this.#waiting.length >= MOST_WAITING) return false
    this.#bytes += message.length
    this.#waiting.push({ message: singleLine(message), callId, onSent })
    this.#flush()
    return true
  }

  /** Takes back a request; `false` if it is on its way. */
  withdraw(callId: number): boolean {
    const at = this.#waiting.findIndex(letter => letter.callId === callId)
    if (at === -1) return false
    const [letter] = this.#waiting.splice(at, 1)
    this.#bytes -= letter!.message.length
    return true
  }

  /** @returns the requests that were not sent */
  stop(): number[] {
    this.#isStopped = true
    const left = this.#waiting.splice(0)
    for (const { onSent } of left) onSent()
    return left.flatMap(({ callId }) => callId ?? [])
  }

  #flush(): void {
    while (!this.#isFull && !this.#isStopped) {
      const letter = this.#waiting.shift()
      if (letter === undefined) return
      this.#bytes -= letter.message.length
      this.#stream.cork()
      this.#stream.write(letter.message)
      this.#isFull = !this.#stream.write('\n')
      this.#stream.uncork()
      letter.onSent()
    }
  }
}

/** How long a dead child's last answers are waited for: its own children may hold the pipe open. */
const LAST_ANSWERS_MS = 200

const UNSENT: LinkFailure = { kind: 'lost', hasRun: 'no', sawBytes: false }

/**
 * A child process that reads and writes messages, one a line. What is no message is ignored, since
 * servers write logs to standard output. A child that exits or closes standard output is dead.
 */
export class StdioLink implements Link {
  readonly #events: LinkEvents
  readonly #clock: Clock
  readonly #guard: Guard
  readonly #process: ServerProcess
  readonly #outbox: Outbox
  readonly #lines: LineReader
  readonly #intake: MessageIntake
  #isOpen = true

  /** Throws if no process can be started. */
  constructor(
    target: Extract<ServerTarget, { kind: 'stdio' }>,
    events: LinkEvents,
    limits: UpstreamLimits,
    clock: Clock,
  ) {
    this.#events = events
    this.#clock = clock
    const guard = new Guard(() => this.#die())
    this.#guard = guard
    this.#process = new ServerProcess(target, clock, limits.endMs, guard)
    const { child } = this.#process
    this.#outbox = new Outbox(child.stdin, limits.outboxBytes, guard)
    this.#lines = new LineReader(limits.messageBytes)
    const onLine = guard.wrap((line: JsonBytes) => this.#line(line))
    this.#intake = new MessageIntake(child.stdout, onLine)
    guard.on(child.stdout, 'data', (chunk: JsonBytes) => this.#read(chunk))
    for (const event of ['end', 'error']) guard.on(child.stdout, event, () => this.#dieAfterAll())
    guard.on(child.stdin, 'error', () => this.#dieSoon())
    guard.on(child, 'error', (error: NodeJS.ErrnoException) =>
      this.#die(child.pid === undefined ? whyNotStarted(target, error) : undefined),
    )
    guard.on(child, 'exit', () => this.#dieSoon())
  }

  request({ id, message }: LinkRequest): void {
    if (this.#isOpen && this.#outbox.add(message, id, () => {})) return
    this.#events.onFailed(id, UNSENT)
  }

  send(message: JsonBytes): Promise<void> | null {
    if (!this.#isOpen) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    return this.#outbox.add(message, null, resolve) ? promise : null
  }

  drop(callId: number): boolean {
    return this.#isOpen && !this.#outbox.withdraw(callId)
  }

  speak(): void {}

  listen(): void {}

  lastErrors(): string {
    return this.#process.lastErrors()
  }

  close(): Promise<void> {
    this.#isOpen = false
    this.#outbox.stop()
    return this.#process.end()
  }

  #read(chunk: JsonBytes): void {
    if (!this.#isOpen) return
    const isWithinBound = this.#lines.push(chunk, line => this.#intake.take(line))
    if (!isWithinBound) this.#die()
  }

  #line(line: JsonBytes): void {
    if (!this.#isOpen) return
    const message = readMessage(line)
    if (message !== null) this.#events.onMessage(message, null)
    else if (line.toString('latin1', 0, 8).trim() !== '') this.#events.onIgnored()
  }

  #dieSoon(): void {
    this.#clock.after(
      LAST_ANSWERS_MS,
      this.#guard.wrap(() => this.#dieAfterAll()),
    )
  }

  #dieAfterAll(): void {
    this.#intake.afterAll(this.#guard.wrap(() => this.#die()))
  }

  /** @param detail why it was never there */
  #die(detail?: string): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const unsent = this.#outbox.stop()
    void this.#process.end()
    for (const id of detail === undefined ? unsent : []) this.#events.onFailed(id, UNSENT)
    this.#events.onGone('closed', detail)
  }
}
