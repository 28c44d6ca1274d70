import { inTime } from '../../core/base/deadline.ts'
import { FairQueue } from '../../core/base/fair-queue.ts'
import type { PartSelector } from '../../core/parts/part.ts'
import type { Failure, Reference, Result, StoredBody, StoredPart } from '../store.ts'
import { fail } from '../values/failure.ts'
import { createCosts, type Sizes } from './call-size.ts'
import { packChunks } from './packed-body.ts'
import type { SelectElsewhere, WholeForPart } from './select-elsewhere.ts'
import { createShares } from './shares.ts'

/**
 * Cuts parts that need the whole body: paths and searches. The store's thread only reads the chunks
 * of the body. Another thread decompresses and searches them. Tenants that wait get equal shares of
 * that thread's time. The body is read when it is the call's turn, so that waiting calls hold no
 * body.
 */
export interface PartsDesk {
  readonly waiting: number
  /** Since the start. */
  readonly refused: number
  part(reference: Reference, selector: PartSelector): Promise<Result<StoredPart>>
  /** Answers what was accepted, within `CLOSE_MS`. */
  close(): Promise<void>
}

export interface PartsDeskOptions {
  /** Asks the store's thread: the part of a small body, or the chunks of a large one. */
  read(reference: Reference, selector: PartSelector): Promise<Result<StoredPart | WholeForPart>>
  /** The content of a body of which the chunks could not be decompressed. */
  get(reference: Reference): Promise<Result<StoredBody>>
  readonly elsewhere: SelectElsewhere
  readonly sizes: Sizes
  readonly maxCalls: number
  /** A tenant that would wait longer is refused, in milliseconds. */
  readonly maxWaitMs: number
}

/** One body is read while another is searched. */
const AT_ONCE = 2
/** How long `close` waits for what was accepted, in milliseconds. */
const CLOSE_MS = 10_000

interface QueuedJob {
  readonly tenant: string
  readonly costUs: number
  readonly queuedAt: number
  start(): void
}

export function createPartsDesk(options: PartsDeskOptions): PartsDesk {
  const { elsewhere, sizes, maxCalls, maxWaitMs } = options
  const queue = new FairQueue<QueuedJob>()
  const shares = createShares({ maxCalls, maxBytesWaiting: Number.POSITIVE_INFINITY })
  const costs = createCosts()
  let running = 0
  let refusals = 0
  let isClosed = false
  let isOver = false
  let onIdle = (): void => {}
  /** The thread is given one body at a time. */
  let last: Promise<unknown> = Promise.resolve()

  function pump(): void {
    while (running < AT_ONCE) {
      const next = queue.take()
      if (next === undefined) return
      running++
      next.start()
    }
  }

  async function cut(
    { whole, ...about }: WholeForPart,
    selector: PartSelector,
  ): Promise<Result<StoredPart>> {
    const turn = last.then(() => elsewhere.select(whole, selector))
    last = turn
    const answer = await turn
    return answer.ok ? { ok: true, ...about, part: answer.part } : answer
  }

  /** The store notes the damage itself, and answers. Meanwhile the body may have been mended. */
  async function cutAgain(reference: Reference, selector: PartSelector) {
    const read = await options.get(reference)
    if (!read.ok) return read
    const { body, ...about } = read
    const packed = packChunks([{ bytes: body, isCompressed: false }])
    const bytes = body.byteLength
    return cut({ ...about, whole: { packed, bytes, chunkBytes: bytes } }, selector)
  }

  function refusal(tenant: string): Failure | undefined {
    if (isClosed) return CLOSED
    if (!shares.fits(tenant, 0)) return BUSY
    const waitMs = queue.workAheadUs(tenant) / 1000
    if (waitMs <= maxWaitMs) return undefined
    return fail('busy', `the store would answer in ${Math.ceil(waitMs / 1000)} s`)
  }

  return {
    get waiting() {
      return queue.length
    },
    get refused() {
      return refusals
    },
    async part(reference, selector) {
      const { tenant } = reference
      const refused = refusal(tenant)
      if (refused !== undefined) {
        refusals++
        return refused
      }
      const call = { op: 'part', args: [reference, selector], bytes: 0 } as const
      const size = sizes.of(call)
      const costUs = costs.estimateUs(size)
      const { promise, resolve } = Promise.withResolvers<void>()
      const entry = { tenant, costUs, queuedAt: performance.now(), start: resolve }
      shares.take(tenant, 0)
      queue.push(entry)
      pump()
      await promise
      const started = performance.now()
      try {
        if (isOver) return CLOSED
        const read = await options.read(reference, selector)
        if (!read.ok || !('whole' in read)) return read
        const answer = await cut(read, selector)
        return isDamaged(answer) ? await cutAgain(reference, selector) : answer
      } finally {
        const tookUs = (performance.now() - started) * 1000
        queue.charge(entry, tookUs)
        costs.learn(size, tookUs)
        shares.give(tenant, 0)
        running--
        pump()
        if (running === 0) onIdle()
      }
    },
    async close() {
      isClosed = true
      if (running > 0) await inTime(new Promise<void>(resolve => (onIdle = resolve)), CLOSE_MS)
      isOver = true
      await elsewhere.close()
    },
  }
}

function isDamaged(answer: Result<object>): boolean {
  return !answer.ok && answer.reason === 'gone'
}

const BUSY = fail('busy', 'the store’s queue is full')
const CLOSED = fail('closed', 'the store is closed')
