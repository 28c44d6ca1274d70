import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { Guard } from '../../proxy/guard.ts'
import { MessageIntake } from '../fronts/message-intake.ts'
import { readMessage } from '../json-rpc.ts'
import type { Clock } from './clock.ts'
import { LineReader } from './line-reader.ts'
import type { Link, LinkEvents, LinkFailure, LinkRequest } from './link.ts'
import type { ServerTarget, UpstreamLimits } from './options.ts'
import { Outbox } from './outbox.ts'
import { ServerProcess, whyNotStarted } from './server-process.ts'

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
