import { fail } from '../failure.ts'
import type { Failure, StoreEvent, StoreLoad, StoreState } from '../store.ts'
import { createAdmission } from './admission.ts'
import type { CallSize, Sizes } from './call-size.ts'
import type { Connect, Connection } from './connection.ts'
import type { Answer, Arguments, Call, FromThread, OperationName } from './protocol.ts'
import { createShares } from './shares.ts'

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
/** Answers that were read are reported from so many bytes on. */
const REPORT_BYTES = 1024 * 1024
/** How long `close` waits for a thread that does not answer, in milliseconds. */
const CLOSE_MS = 10_000

/** Resolves when the thread has opened the file. @throws Error where it cannot */
export async function createCalls(options: CallsOptions): Promise<Calls> {
  const { connect, limits, sizes, onEvent } = options
  const pending = new Map<number, Pending>()
  let connection: Connection | null = null
  const admission = createAdmission({ maxWaitMs: limits.maxWaitMs })
  const shares = createShares(limits)
  let outgoing: Call[] = []
  let nextId = 1
  let refused = 0
  let state: StoreState = 'open'
  let threadsLost = 0
  let lossesInARow = 0
  let readBytes = 0
  let closed: Promise<void> | undefined
  let restart: NodeJS.Timeout | undefined
  /** Set while `close` waits for the last answer, and for the end of the thread. */
  let onEmpty: (() => void) | undefined
  let onEnded: (() => void) | undefined

  function start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let unusable: string | undefined
    let ready = false
    state = 'open'
    const started = connect({
      onMessage(message) {
        if (message.kind === 'ready') {
          ready = true
          connection = started
          lossesInARow = 0
          resolve()
        } else if (message.kind === 'unusable') unusable = message.detail
        else receive(message)
      },
      onEnd(detail) {
        if (connection === started) connection = null
        onEnded?.()
        if (!ready) reject(new Error(unusable ?? detail))
        else if (closed === undefined) lost(detail)
        else failAll()
      },
    })
    return promise
  }

  function receive(message: FromThread): void {
    if (message.kind === 'event') onEvent(message.event)
    if (message.kind === 'state') state = message.state
    if (message.kind !== 'answers') return
    for (const { id, result, us } of message.answers) {
      const entry = pending.get(id)
      if (entry === undefined) continue
      admission.done(entry.call, us)
      sizes.note(entry.call, result)
      settle(id, result)
    }
    readBytes += message.bytes
    pump()
    if (readBytes >= REPORT_BYTES) flush()
  }

  function settle(id: number, answer: unknown): void {
    const entry = pending.get(id)
    if (entry === undefined) return
    pending.delete(id)
    shares.give(entry.tenant, entry.call.bytes)
    entry.settle(answer)
    if (pending.size === 0) onEmpty?.()
  }

  function failAll(): void {
    outgoing = []
    // What the thread was never given is certainly not kept.
    for (const { id } of admission.clear()) settle(id, closed === undefined ? RESTARTING : CLOSED)
    for (const id of [...pending.keys()]) settle(id, LOST)
  }

  function lost(detail: string): void {
    threadsLost++
    onEvent({ kind: 'thread_lost', detail })
    readBytes = 0
    failAll()
    const pause = Math.min(RESTART_MS * 2 ** lossesInARow++, MAX_RESTART_MS)
    restart = setTimeout(() => start().catch((error: Error) => lost(error.message)), pause)
  }

  function flush(): void {
    if (connection === null || (outgoing.length === 0 && readBytes === 0)) return
    const message = { kind: 'calls', calls: outgoing, read_bytes: readBytes } as const
    const moved = outgoing.flatMap(({ id }) => pending.get(id)?.transfer ?? [])
    outgoing = []
    readBytes = 0
    connection.post(message, moved)
  }

  /** Gives the thread what it should have now. */
  function pump(): void {
    const calls = admission.take()
    if (calls.length === 0) return
    if (outgoing.length === 0) queueMicrotask(flush)
    outgoing.push(...calls)
  }

  function call<K extends OperationName>(
    op: K,
    args: Arguments<K>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Answer<K>> {
    const bytes = transfer.reduce((sum, buffer) => sum + buffer.byteLength, 0)
    const next: Call = { id: nextId, op, args, bytes }
    const size = sizes.of(next)
    const refusal = admit(next, size)
    if (refusal !== undefined) return Promise.resolve(refusal as Answer<K>)
    nextId++
    const { tenant } = size
    return new Promise(resolve => {
      const settle = (answer: unknown) => resolve(answer as Answer<K>)
      pending.set(next.id, { call: next, tenant, transfer, settle })
      pump()
    })
  }

  /** Puts it in line, or says why not. */
  function admit(next: Call, size: CallSize): Failure | undefined {
    if (closed !== undefined) return CLOSED
    const refusal = connection === null ? RESTARTING : lineUp(next, size)
    if (refusal !== undefined) refused++
    return refusal
  }

  function lineUp(next: Call, size: CallSize): Failure | undefined {
    if (!shares.fits(size.tenant, next.bytes)) return BUSY
    const refusal = admission.add(next, size)
    if (refusal !== undefined) {
      return fail('busy', `the store would answer in ${Math.ceil(refusal.refusedMs / 1000)} s`)
    }
    shares.take(size.tenant, next.bytes)
    return undefined
  }

  async function close(): Promise<void> {
    clearTimeout(restart)
    if (connection === null) return failAll()
    const last: Connection = connection
    if (pending.size > 0) {
      await within(CLOSE_MS, new Promise<void>(resolve => (onEmpty = resolve)))
    }
    failAll()
    if (connection === null) return
    const ended = new Promise<void>(resolve => (onEnded = resolve))
    last.post({ kind: 'close' }, [])
    await within(CLOSE_MS, ended)
    await last.terminate()
  }

  await start()
  return {
    call,
    get load() {
      return {
        state: connection === null ? 'unavailable' : state,
        pending: pending.size,
        pending_bytes: shares.bytes,
        refused,
        threads_lost: threadsLost,
      }
    },
    close() {
      closed ??= close()
      return closed
    },
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
