import type { StoreState } from '../values/store-figures.ts'
import type { Commits } from './commits.ts'
import {
  buffersOf,
  type Call,
  type FromThread,
  isUrgent,
  isWrite,
  type Settled,
  type ToThread,
} from './protocol.ts'

export interface LoopOptions {
  readonly commits: Pick<Commits, keyof Commits>
  post(message: FromThread, transfer: readonly ArrayBuffer[]): void
  /** How often to look for what has expired, in milliseconds. */
  readonly upkeepMs?: number
  /** Everything is answered and the file is closed. */
  onClosed(): void
}

/** How often expired bodies are looked for by default, in milliseconds. */
const UPKEEP_MS = 1000
/** How long reads run before writes have their turn, in milliseconds. */
const READ_TURN_MS = 10
/** What a call costs beside its bytes, as bytes; for its part of a transaction's time. */
const CALL_BYTES = 8192
/** Answers that the main thread has not read yet; beyond, reads wait. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024

/** Calls of one sort; the urgent ones go first. */
interface QueuedCalls {
  urgent: Call[]
  others: Call[]
}

/**
 * The order of work in the thread.
 *
 * Works through calls in turns: reads, then one transaction of writes, each answered in one
 * message. The disk's flush takes most of a turn. Writes that arrive during it share the next
 * transaction, so groups grow with the load, and a single put does not wait. Between two turns the
 * loop looks for messages, so that an urgent call waits for one long read at most.
 */
export class Loop {
  readonly #commits: LoopOptions['commits']
  readonly #post: LoopOptions['post']
  readonly #onClosed: () => void
  readonly #reads: QueuedCalls = { urgent: [], others: [] }
  readonly #writes: QueuedCalls = { urgent: [], others: [] }
  /** Bytes of answers that the main thread has not read yet. */
  #unread = 0
  #state: StoreState
  #isUpkeepDue = true
  #isClosing = false
  #isScheduled = false
  readonly #timer: NodeJS.Timeout

  constructor({ commits, post, onClosed, upkeepMs = UPKEEP_MS }: LoopOptions) {
    this.#commits = commits
    this.#post = post
    this.#onClosed = onClosed
    this.#state = commits.state
    if (this.#state !== 'open') this.#postState()
    this.#timer = setInterval(() => {
      this.#isUpkeepDue = true
      this.#schedule()
    }, upkeepMs)
    this.#schedule()
  }

  receive(message: ToThread): void {
    if (message.kind === 'close') this.#isClosing = true
    else {
      this.#unread -= message.read_bytes
      for (const call of message.calls) {
        const waiting = isWrite(call.op) ? this.#writes : this.#reads
        if (isUrgent(call.op)) waiting.urgent.push(call)
        else waiting.others.push(call)
      }
    }
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isScheduled = false
    // There are two messages, so that the results of reads do not wait for the disk.
    this.#answer(this.#takeReads())
    this.#answer(this.#takeWrites())
    const blocked = this.#unread > MAX_UNREAD_BYTES
    const waiting =
      count(this.#writes) + this.#reads.urgent.length + (blocked ? 0 : this.#reads.others.length) >
      0
    if (this.#isClosing && !waiting && count(this.#reads) === 0) {
      clearInterval(this.#timer)
      this.#commits.close()
      this.#post({ kind: 'closed' }, [])
      this.#onClosed()
      return
    }
    if (this.#isUpkeepDue) this.#isUpkeepDue = this.#commits.upkeep(!waiting)
    this.#noteState()
    if (waiting || this.#isUpkeepDue) this.#schedule()
  }

  #noteState(): void {
    if (this.#commits.state === this.#state) return
    this.#state = this.#commits.state
    this.#postState()
  }

  #postState(): void {
    this.#post({ kind: 'state', state: this.#state }, [])
  }

  #takeReads(): Settled[] {
    const answers: Settled[] = []
    let last = performance.now()
    const until = last + READ_TURN_MS
    let bytes = 0
    for (const call of [...this.#reads.urgent, ...this.#reads.others]) {
      if (!isUrgent(call.op) && this.#unread + bytes > MAX_UNREAD_BYTES) break
      const result = this.#commits.read(call)
      const now = performance.now()
      answers.push({ id: call.id, result, us: (now - last) * 1000 })
      last = now
      bytes += sizeOf(result)
      if (now > until) break
    }
    remove(this.#reads, answers.length)
    return answers
  }

  #takeWrites(): Settled[] {
    const calls = [...this.#writes.urgent, ...this.#writes.others]
    if (calls.length === 0) return []
    const started = performance.now()
    const results = this.#commits.write(calls)
    const us = (performance.now() - started) * 1000
    const bytes = (call: Call) => call.bytes + CALL_BYTES
    const done = calls.slice(0, results.length)
    const all = done.reduce((sum, call) => sum + bytes(call), 0)
    remove(this.#writes, done.length)
    return done.map((call, i) => ({
      id: call.id,
      result: results[i]!,
      us: (us * bytes(call)) / all,
    }))
  }

  #answer(answers: readonly Settled[]): void {
    // The state is reported first, so that the reader of an answer knows which file it is from.
    this.#noteState()
    if (answers.length === 0) return
    const transfer = answers.flatMap(({ result }) => buffersOf(result))
    const bytes = transfer.reduce((sum, buffer) => sum + buffer.byteLength, 0)
    this.#unread += bytes
    this.#post({ kind: 'answers', answers, bytes }, transfer)
  }
}

function count({ urgent, others }: QueuedCalls): number {
  return urgent.length + others.length
}

/** Takes out the first so many, in the order in which they were worked through. */
function remove(waiting: QueuedCalls, done: number): void {
  const urgent = Math.min(done, waiting.urgent.length)
  waiting.urgent = waiting.urgent.slice(urgent)
  waiting.others = waiting.others.slice(done - urgent)
}

function sizeOf(result: Settled['result']): number {
  return buffersOf(result).reduce((sum, buffer) => sum + buffer.byteLength, 0)
}
