import type { CallSize, Sizes } from '../parts/call-size.ts'
import { createShares, type Shares } from '../parts/shares.ts'
import type { Failure } from '../store.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import type { StoreLoad, StoreState } from '../values/store-figures.ts'
import { type Admission, createAdmission } from './admission.ts'
import type { Connect, Connection } from './connection.ts'
import type { Answer, Arguments, Call, FromThread, OperationName } from './protocol.ts'

/** Bounds of what waits for the store. */
export interface CallLimits {
  readonly maxCalls: number
  /** Bodies on their way, in bytes. */
  readonly maxBytesWaiting: number
  /** A tenant that would have to wait longer for the thread is refused, in milliseconds. */
  readonly maxWaitMs: number
}

/**
 * Calls to the thread: bounded, in a fair order, answered once, and never lost without an answer.
 */
export interface Calls {
  call<K extends OperationName>(
    op: K,
    args: Arguments<K>,
    transfer?: readonly ArrayBuffer[],
  ): Promise<Answer<K>>
  readonly load: StoreLoad
  close(): Promise<void>
}

export interface CallsOptions {
  readonly connect: Connect
  readonly limits: CallLimits
  readonly sizes: Sizes
  onEvent(event: StoreEvent): void
}

interface Pending {
  readonly call: Call
  readonly tenant: string
  readonly transfer: readonly ArrayBuffer[]
  settle(answer: unknown): void
}

/** Pause before a lost thread is replaced, doubled with each loss in a row, in milliseconds. */
const RESTART_MS = 100
const MAX_RESTART_MS = 5000
/** Bytes of read answers from which on they are reported to the thread. */
const REPORT_BYTES = 1024 * 1024
/** How long `close` waits for a thread that does not answer, in milliseconds. */
const CLOSE_MS = 10_000

/** Resolves when the thread has opened the file. @throws Error if it cannot */
export async function createCalls(options: CallsOptions): Promise<Calls> {
  const calls = new ThreadCalls(options)
  await calls.start()
  return calls
}

class ThreadCalls implements Calls {
  readonly #options: CallsOptions
  readonly #admission: Admission
  readonly #shares: Shares
  readonly #pending = new Map<number, Pending>()
  #connection: Connection | null = null
  #outgoing: Call[] = []
  #nextId = 1
  #refused = 0
  #state: StoreState = 'open'
  #threadsLost = 0
  #lossesInARow = 0
  #readBytes = 0
  #closed: Promise<void> | undefined
  #restart: NodeJS.Timeout | undefined
  /** Set while `close` waits for the last answer, and for the end of the thread. */
  #onEmpty: (() => void) | undefined
  #onEnded: (() => void) | undefined

  constructor(options: CallsOptions) {
    this.#options = options
    this.#admission = createAdmission({ maxWaitMs: options.limits.maxWaitMs })
    this.#shares = createShares(options.limits)
  }

  call<K extends OperationName>(
    op: K,
    args: Arguments<K>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Answer<K>> {
    const bytes = transfer.reduce((sum, buffer) => sum + buffer.byteLength, 0)
    const next: Call = { id: this.#nextId, op, args, bytes }
    const size = this.#options.sizes.of(next)
    const refusal = this.#admit(next, size)
    if (refusal !== undefined) return Promise.resolve(refusal as Answer<K>)
    this.#nextId++
    const { tenant } = size
    return new Promise(resolve => {
      const settle = (answer: unknown) => resolve(answer as Answer<K>)
      this.#pending.set(next.id, { call: next, tenant, transfer, settle })
      this.#pump()
    })
  }

  get load(): StoreLoad {
    return {
      state: this.#connection === null ? 'unavailable' : this.#state,
      pending: this.#pending.size,
      pending_bytes: this.#shares.bytes,
      refused: this.#refused,
      threads_lost: this.#threadsLost,
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Resolves when a thread has opened the file. */
  start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let unusable: string | undefined
    let ready = false
    this.#state = 'open'
    const started = this.#options.connect({
      onMessage: message => {
        if (message.kind === 'ready') {
          ready = true
          this.#connection = started
          this.#lossesInARow = 0
          resolve()
        } else if (message.kind === 'unusable') unusable = message.detail
        else this.#receive(message)
      },
      onEnd: detail => {
        if (this.#connection === started) this.#connection = null
        this.#onEnded?.()
        if (!ready) reject(new Error(unusable ?? detail))
        else if (this.#closed === undefined) this.#lost(detail)
        else this.#failAll()
      },
    })
    return promise
  }

  #receive(message: FromThread): void {
    if (message.kind === 'event') this.#options.onEvent(message.event)
    if (message.kind === 'state') this.#state = message.state
    if (message.kind !== 'answers') return
    for (const { id, result, us } of message.answers) {
      const entry = this.#pending.get(id)
      if (entry === undefined) continue
      this.#admission.done(entry.call, us)
      this.#options.sizes.note(entry.call, result)
      this.#settle(id, result)
    }
    this.#readBytes += message.bytes
    this.#pump()
    if (this.#readBytes >= REPORT_BYTES) this.#flush()
  }

  #settle(id: number, answer: unknown): void {
    const entry = this.#pending.get(id)
    if (entry === undefined) return
    this.#pending.delete(id)
    this.#shares.give(entry.tenant, entry.call.bytes)
    entry.settle(answer)
    if (this.#pending.size === 0) this.#onEmpty?.()
  }

  #failAll(): void {
    this.#outgoing = []
    // Calls that the thread never got have certainly kept nothing.
    for (const { id } of this.#admission.clear())
      this.#settle(id, this.#closed === undefined ? RESTARTING : CLOSED)
    for (const id of [...this.#pending.keys()]) this.#settle(id, LOST)
  }

  #lost(detail: string): void {
    this.#threadsLost++
    this.#options.onEvent({ kind: 'thread_lost', detail })
    this.#readBytes = 0
    this.#failAll()
    const pause = Math.min(RESTART_MS * 2 ** this.#lossesInARow++, MAX_RESTART_MS)
    this.#restart = setTimeout(
      () => this.start().catch((error: Error) => this.#lost(error.message)),
      pause,
    )
  }

  #flush(): void {
    if (this.#connection === null || (this.#outgoing.length === 0 && this.#readBytes === 0)) return
    const message = { kind: 'calls', calls: this.#outgoing, read_bytes: this.#readBytes } as const
    const moved = this.#outgoing.flatMap(({ id }) => this.#pending.get(id)?.transfer ?? [])
    this.#outgoing = []
    this.#readBytes = 0
    this.#connection.post(message, moved)
  }

  /** Sends the thread the calls that it should have now. */
  #pump(): void {
    const calls = this.#admission.take()
    if (calls.length === 0) return
    if (this.#outgoing.length === 0) queueMicrotask(() => this.#flush())
    for (const item of calls) this.#outgoing.push(item)
  }

  /** Queues the call, or returns why not. */
  #admit(next: Call, size: CallSize): Failure | undefined {
    if (this.#closed !== undefined) return CLOSED
    const refusal = this.#connection === null ? RESTARTING : this.#lineUp(next, size)
    if (refusal !== undefined) this.#refused++
    return refusal
  }

  #lineUp(next: Call, size: CallSize): Failure | undefined {
    if (!this.#shares.fits(size.tenant, next.bytes)) return BUSY
    const refusal = this.#admission.add(next, size)
    if (refusal !== undefined) {
      return fail('busy', `the store would answer in ${Math.ceil(refusal.refusedMs / 1000)} s`)
    }
    this.#shares.take(size.tenant, next.bytes)
    return undefined
  }

  async #close(): Promise<void> {
    clearTimeout(this.#restart)
    if (this.#connection === null) return this.#failAll()
    const last: Connection = this.#connection
    if (this.#pending.size > 0) {
      await within(CLOSE_MS, new Promise<void>(resolve => (this.#onEmpty = resolve)))
    }
    this.#failAll()
    if (this.#connection === null) return
    const ended = new Promise<void>(resolve => (this.#onEnded = resolve))
    last.post({ kind: 'close' }, [])
    await within(CLOSE_MS, ended)
    await last.terminate()
  }
}

const LOST = fail('lost', 'the store’s thread was lost')
const RESTARTING = fail('busy', 'the store is being started again')
const BUSY = fail('busy', 'the store’s queue is full')
const CLOSED = fail('closed', 'the store is closed')

/** Waits for `work`, but no longer than `ms` milliseconds. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
