import type { Ledger } from './ledger.ts'
import { isWrite } from './ledger.ts'
import { buffersOf, type Call, type FromThread, type Settled, type ToThread } from './protocol.ts'

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
/** Answers that the main thread has not read yet; beyond, reads wait. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024

/**
 * Works through calls in turns: reads, then one transaction of writes, each answered in one message. What
 * arrives during a turn, most of which is the disk's flush, shares the next transaction; so groups grow
 * with the load, and a lone put waits for nobody.
 */
export function createLoop({ ledger, post, onClosed, upkeepMs = UPKEEP_MS }: LoopOptions): Loop {
  let reads: Call[] = []
  let writes: Call[] = []
  let unread = 0
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
    const waiting = writes.length > 0 || (reads.length > 0 && !blocked)
    if (closing && !waiting && reads.length === 0) {
      clearInterval(timer)
      ledger.close()
      post({ kind: 'closed' }, [])
      onClosed()
      return
    }
    if (upkeepDue) upkeepDue = ledger.upkeep(!waiting)
    if (waiting || upkeepDue) schedule()
  }

  function takeReads(): Settled[] {
    const answers: Settled[] = []
    const until = performance.now() + READ_TURN_MS
    let bytes = 0
    for (const call of reads) {
      if (unread + bytes > MAX_UNREAD_BYTES) break
      const result = ledger.read(call)
      answers.push({ id: call.id, result })
      bytes += sizeOf(result)
      if (performance.now() > until) break
    }
    if (answers.length > 0) reads = reads.slice(answers.length)
    return answers
  }

  function takeWrites(): Settled[] {
    if (writes.length === 0) return []
    const answers = ledger.write(writes).map((result, i) => ({ id: writes[i]!.id, result }))
    writes = writes.slice(answers.length)
    return answers
  }

  function answer(answers: readonly Settled[]): void {
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
          if (isWrite(call.op)) writes.push(call)
          else reads.push(call)
        }
      }
      schedule()
    },
  }
}

function sizeOf(result: Settled['result']): number {
  return buffersOf(result).reduce((sum, buffer) => sum + buffer.byteLength, 0)
}
