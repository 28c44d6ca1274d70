import { FairQueue } from '../../core/base/fair-queue.ts'
import { type CallSize, type Costs, createCosts } from '../parts/call-size.ts'
import { type Call, isUrgent, isWrite } from './protocol.ts'

/**
 * Decides which calls the thread gets, and when. Tenants that wait get equal shares of the thread's
 * time (`fair-queue.ts`). Reads and writes have a queue each, because the thread takes them in
 * turn. Urgent calls go before both.
 */
export interface Admission {
  /**
   * Queues a call, or returns how long its tenant would wait, in milliseconds, if that is too
   * long.
   */
  add(call: Call, size: CallSize): { readonly refusedMs: number } | undefined
  /** Calls that the thread should get now. */
  take(): Call[]
  /** A call was answered, and kept the thread busy for `tookUs` microseconds. */
  done(call: Call, tookUs: number): void
  /** Forgets everything; returns the calls that the thread was never given. */
  clear(): Call[]
}

/**
 * How much work the thread gets in advance. With more, the queue could no longer choose whose turn
 * is next.
 */
export interface Ahead {
  readonly readUs: number
  readonly writeBytes: number
}

const AHEAD: Ahead = {
  /** The time of a turn of reads. A read that takes longer is given alone. */
  readUs: 10_000,
  /** About what one transaction takes, so that the next group is there when it ends. */
  writeBytes: 4 * 1024 * 1024,
}

/** A write's rows and statements, as bytes: so many small ones are one group. */
const WRITE_BYTES = 8192
/** The slowest way to read a body; a read of one takes no longer. */
const WORST_US_PER_BYTE = 0.006

interface AdmittedCall {
  readonly call: Call
  readonly tenant: string
  readonly costUs: number
  readonly queuedAt: number
  readonly size: CallSize
  /** What it takes of `Ahead`; not an estimate that a first call of its kind could prove wrong. */
  readonly weight: number
}

export interface AdmissionOptions {
  /** A tenant that would wait longer is refused, in milliseconds. */
  readonly maxWaitMs: number
  readonly ahead?: Ahead
  readonly costs?: Costs
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { maxWaitMs, ahead = AHEAD, costs = createCosts() } = options
  const reads = createLine(ahead.readUs)
  const writes = createLine(ahead.writeBytes)
  const given = new Map<number, AdmittedCall>()
  let urgent: Call[] = []

  function waitMs(tenant: string, own: WaitingLine, other: WaitingLine): number {
    const ahead = own.workAheadUs(tenant)
    // The thread takes reads and writes in turn, so the other queue takes at most as much of its
    // time.
    return (ahead + Math.min(ahead, other.workUs)) / 1000
  }

  return {
    add(call, size) {
      if (isUrgent(call.op)) {
        urgent.push(call)
        return undefined
      }
      const writing = isWrite(call.op)
      const [own, other] = writing ? [writes, reads] : [reads, writes]
      const refusedMs = waitMs(size.tenant, own, other)
      if (refusedMs > maxWaitMs) return { refusedMs }
      const costUs = costs.estimateUs(size)
      const worst = size.bytes === null ? ahead.readUs : size.bytes * WORST_US_PER_BYTE
      // The weight is a whole number, so that the sum is 0 when all calls have been answered.
      const weight = writing ? call.bytes + WRITE_BYTES : Math.ceil(Math.max(costUs, worst))
      own.push({
        call,
        size,
        tenant: size.tenant,
        costUs,
        queuedAt: performance.now(),
        weight,
      })
      return undefined
    },
    take() {
      const entries = [...reads.take(), ...writes.take()]
      for (const entry of entries) given.set(entry.call.id, entry)
      const calls = [...urgent, ...entries.map(({ call }) => call)]
      urgent = []
      return calls
    },
    done(call, tookUs) {
      const entry = given.get(call.id)
      if (entry === undefined) return
      given.delete(call.id)
      const line = isWrite(call.op) ? writes : reads
      line.done(entry, tookUs)
      costs.learn(entry.size, tookUs)
    },
    clear() {
      const waiting = [...urgent, ...[...reads.clear(), ...writes.clear()].map(({ call }) => call)]
      urgent = []
      given.clear()
      return waiting
    },
  }
}

interface WaitingLine {
  readonly workUs: number
  workAheadUs(tenant: string): number
  push(entry: AdmittedCall): void
  /** Takes as many calls as may be in advance; at least one if the thread has none. */
  take(): AdmittedCall[]
  done(entry: AdmittedCall, tookUs: number): void
  clear(): AdmittedCall[]
}

function createLine(limit: number): WaitingLine {
  const queue = new FairQueue<AdmittedCall>()
  let out = 0

  return {
    get workUs() {
      return queue.workUs
    },
    workAheadUs: tenant => queue.workAheadUs(tenant),
    push: entry => queue.push(entry),
    take() {
      const taken: AdmittedCall[] = []
      for (let next = queue.peek(); next !== undefined; next = queue.peek()) {
        if (out > 0 && out + next.weight > limit) break
        out += next.weight
        queue.take()
        taken.push(next)
      }
      return taken
    },
    done(entry, tookUs) {
      out -= entry.weight
      queue.charge(entry, tookUs)
    },
    clear() {
      out = 0
      return queue.remove(() => true)
    },
  }
}
