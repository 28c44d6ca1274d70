import type { Ledger } from './ledger.ts'
import {
  buffersOf,
  type Call,
  type FromThread,
  isUrgent,
  isWrite,
  type Settled,
  type ToThread,
} from './protocol.ts'

/** The order of work in the thread. */
export interface Loop {
  receive(message: ToThread): void
}

export interface LoopOptions {
  readonly ledger: Ledger
  post(message: FromThread, transfer: readonly ArrayBuffer[]): void
  /** How often to look for what has expired, in milliseconds. */
  readonly upkeepMs?: number
  /** Everything is answered and the file is closed. */
  onClosed(): void
}

/** How often expired bodies are looked for where nothing else is said, in milliseconds. */
const UPKEEP_MS = 1000
/** Reads go on for so long before writes have their turn, in milliseconds. */
const READ_TURN_MS = 10
/** What a call costs beside its bytes, as bytes; for its part of a transaction's time. */
const CALL_BYTES = 8192
/** Answers that the main thread has not read yet; beyond, reads wait. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024

/** Calls of one sort; the urgent ones go first. */
interface Waiting {
  urgent: Call[]
  others: Call[]
}

/**
 * Works through calls in turns: reads, then one transaction of writes, each answered in one
 * message. What arrives during a turn, most of which is the disk's flush, shares the next
 * transaction; so groups grow with the load, and a lone put does not wait. Between two turns it
 * looks for messages, so that what is urgent waits for one long read at most.
 */
export function createLoop({ ledger, post, onClosed, upkeepMs = UPKEEP_MS }: LoopOptions): Loop {
  const reads: Waiting = { urgent: [], others: [] }
  const writes: Waiting = { urgent: [], others: [] }
  let unread = 0
  let state = ledger.state
  if (state !== 'open') post({ kind: 'state', state }, [])
  let upkeepDue = true
  let closing = false
  let scheduled = false
  const timer = setInterval(() => {
    upkeepDue = true
    schedule()
  }, upkeepMs)
  schedule()

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(turn)
  }

  function turn(): void {
    scheduled = false
    // In two messages: what was read must not wait for the disk.
    answer(takeReads())
    answer(takeWrites())
    const blocked = unread > MAX_UNREAD_BYTES
    const waiting = count(writes) + reads.urgent.length + (blocked ? 0 : reads.others.length) > 0
    if (closing && !waiting && count(reads) === 0) {
      clearInterval(timer)
      ledger.close()
      post({ kind: 'closed' }, [])
      onClosed()
      return
    }
    if (upkeepDue) upkeepDue = ledger.upkeep(!waiting)
    noteState()
    if (waiting || upkeepDue) schedule()
  }

  function noteState(): void {
    if (ledger.state === state) return
    state = ledger.state
    post({ kind: 'state', state }, [])
  }

  function takeReads(): Settled[] {
    const answers: Settled[] = []
    let last = performance.now()
    const until = last + READ_TURN_MS
    let bytes = 0
    for (const call of [...reads.urgent, ...reads.others]) {
      if (!isUrgent(call.op) && unread + bytes > MAX_UNREAD_BYTES) break
      const result = ledger.read(call)
      const now = performance.now()
      answers.push({ id: call.id, result, us: (now - last) * 1000 })
      last = now
      bytes += sizeOf(result)
      if (now > until) break
    }
    remove(reads, answers.length)
    return answers
  }

  function takeWrites(): Settled[] {
    const calls = [...writes.urgent, ...writes.others]
    if (calls.length === 0) return []
    const started = performance.now()
    const results = ledger.write(calls)
    const us = (performance.now() - started) * 1000
    const bytes = (call: Call) => call.bytes + CALL_BYTES
    const done = calls.slice(0, results.length)
    const all = done.reduce((sum, call) => sum + bytes(call), 0)
    remove(writes, done.length)
    return done.map((call, i) => ({
      id: call.id,
      result: results[i]!,
      us: (us * bytes(call)) / all,
    }))
  }

  function answer(answers: readonly Settled[]): void {
    // First, so that the reader of an answer knows of what it is.
    noteState()
    if (answers.length === 0) return
    const transfer = answers.flatMap(({ result }) => buffersOf(result))
    const bytes = transfer.reduce((sum, buffer) => sum + buffer.byteLength, 0)
    unread += bytes
    post({ kind: 'answers', answers, bytes }, transfer)
  }

  return {
    receive(message) {
      if (message.kind === 'close') closing = true
      else {
        unread -= message.read_bytes
        for (const call of message.calls) {
          const waiting = isWrite(call.op) ? writes : reads
          if (isUrgent(call.op)) waiting.urgent.push(call)
          else waiting.others.push(call)
        }
      }
      schedule()
    },
  }
}

function count({ urgent, others }: Waiting): number {
  return urgent.length + others.length
}

/** Takes out the first so many, in the order in which they were worked through. */
function remove(waiting: Waiting, done: number): void {
  const urgent = Math.min(done, waiting.urgent.length)
  waiting.urgent = waiting.urgent.slice(urgent)
  waiting.others = waiting.others.slice(done - urgent)
}

function sizeOf(result: Settled['result']): number {
  return buffersOf(result).reduce((sum, buffer) => sum + buffer.byteLength, 0)
}
