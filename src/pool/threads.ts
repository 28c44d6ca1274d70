import { Piscina } from 'piscina'
import type {
  BatchMessage,
  BatchResult,
  KeysAhead,
  ShrinkMessage,
  ShrinkResult,
  WorkerSetup,
} from '../../workers/protocol.ts'
import type * as tasks from '../../workers/tasks.ts'

/** The worker threads. */
export interface Threads {
  /** Threads that there may be. Each is started when it is first needed. */
  readonly size: number
  /**
   * Runs a batch on a free thread; an aborted signal terminates that thread. Rejects if it is lost.
   */
  run(message: BatchMessage, signal: AbortSignal, hints?: BatchHints): Promise<RunBatch>
  /** The ids of threads that run no batch; absent: not known. */
  free?(): ReadonlySet<number>
  close(): Promise<void>
}

/** How a batch may cost less. */
export interface BatchHints {
  /** The id of the thread that should run it if it is free. */
  readonly near?: number | undefined
  /** Gets keys of decisions that a job of the batch, by its index, is about to make. */
  ahead?(job: number, keys: readonly string[]): void
}

/** The result of a batch, with the id of the thread that ran it, if that is known. */
export interface RunBatch extends BatchResult {
  readonly thread?: number
}

export interface ThreadOptions {
  readonly size: number
  /** Module that exports `runBatch`; tests and benches bring their own operations. */
  readonly workerUrl: URL
  /** What each thread gets; asked for once, when the first is started. */
  setup(): WorkerSetup
  /** Heap of one thread, in MiB; beyond it the thread is replaced and its job fails. */
  readonly heapMb: number
  /** Gets the reason why a thread ended, if no job caused it. Mostly a module does not load. */
  onCrash(error: unknown): void
  /** Gets the id of each thread that has ended, whatever ended it. */
  onExit(threadId: number): void
  /** Gets the id of each idle thread that has given back the memory of large jobs. */
  onShrunk?(threadId: number): void
}

const TASK: keyof typeof tasks = 'runBatch'

/** Space for short-lived objects, above V8's own choice. It gives a tenth more encodes a second. */
const YOUNG_MB = 64

/** Pause before threads that did not even load are started again, in milliseconds. */
const RESTART_MS = 500

type Pool = Piscina<BatchMessage | ShrinkMessage, BatchResult | ShrinkResult>

/**
 * Piscina with one thread, and another one each time that a batch finds no free thread: a thread
 * takes some 30 MB and 0.2 s to start, and one agent rarely needs a second one. From then on lost
 * threads are replaced, so that there are never fewer again.
 *
 * If a thread ends before it was ready, Piscina stops replacing threads. Then a new pool takes over
 * after a pause, so that the service does not stay with fewer threads or none. Batches that waited
 * for the old pool are rejected and sent again.
 */
export class WorkerThreads implements Threads {
  readonly size: number
  readonly #options: ThreadOptions
  readonly #setup: WorkerSetup
  readonly #watched = new WeakSet<object>()
  readonly #working = new Set<number>()
  readonly #balancer = createBalancer()
  readonly #shrinking: Shrinking
  /** By the slots of their batches. */
  readonly #underWay = new Map<number, BatchHints>()
  #busy = 0
  #restart: NodeJS.Timeout | undefined
  #pool: Pool | null

  constructor(options: ThreadOptions) {
    this.size = options.size
    this.#options = options
    this.#setup = options.setup()
    this.#shrinking = createShrinking({
      idle: () => this.#started() - this.#busy,
      ask: threadId => this.#askToShrink(threadId),
      now: () => performance.now(),
    })
    this.#pool = this.#start()
  }

  free(): ReadonlySet<number> {
    const ids = (this.#pool?.threads ?? []).map(({ threadId }) => threadId)
    return new Set(ids.filter(id => !this.#working.has(id)))
  }

  async run(message: BatchMessage, signal: AbortSignal, hints: BatchHints = {}): Promise<RunBatch> {
    const current = this.#pool
    if (current === null) throw new Error('no thread could be started')
    this.#busy++
    this.#underWay.set(message.slot, hints)
    const send = () => current.run(message, { transferList: movable(message.body), signal })
    const { sent, thread } = this.#balancer.place(hints.near, send)
    if (thread !== undefined) this.#working.add(thread)
    try {
      // A thread that was started for this batch is kept.
      current.options.minThreads = Math.max(current.options.minThreads, current.threads.length)
      const result = (await sent) as BatchResult
      if (result.grownThread !== undefined) this.#shrinking.noteGrown(result.grownThread)
      return thread === undefined ? result : { ...result, thread }
    } finally {
      this.#busy--
      this.#underWay.delete(message.slot)
      if (thread !== undefined) this.#working.delete(thread)
    }
  }

  async close(): Promise<void> {
    this.#shrinking.close()
    clearTimeout(this.#restart)
    const last = this.#pool
    this.#pool = null
    await last?.destroy()
  }

  #start(): Pool {
    const { workerUrl, size, heapMb } = this.#options
    const created: Pool = new Piscina({
      filename: workerUrl.href,
      name: TASK,
      minThreads: 1,
      maxThreads: size,
      // Batches are handed over one per free thread; twice that covers replacements being started.
      maxQueue: size * 2,
      idleTimeout: Number.POSITIVE_INFINITY,
      workerData: this.#setup,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
      recordTiming: false,
      loadBalancer: this.#balancer.balance,
    })
    created.on('error', error => this.#options.onCrash(error))
    created.on('message', ({ slot, job, keysAhead }: KeysAhead) => {
      this.#underWay.get(slot)?.ahead?.(job, keysAhead)
    })
    created.on('workerDestroy', () => setImmediate(() => this.#replaceIfShrunk(created)))
    created.on('workerCreate', () => this.#watchThreads(created))
    this.#watchThreads(created)
    return created
  }

  /** Threads that were started, ready or not. */
  #started(): number {
    return this.#pool?.options.minThreads ?? 0
  }

  #watchThreads({ threads }: Pool): void {
    for (const thread of threads) {
      if (this.#watched.has(thread)) continue
      this.#watched.add(thread)
      // The id is read now, because a thread that has ended has none.
      const { threadId } = thread
      thread.once('exit', () => {
        this.#shrinking.forget(threadId)
        this.#options.onExit(threadId)
      })
    }
  }

  async #askToShrink(threadId: number): Promise<boolean> {
    if (this.#pool === null) return false
    const { isShrunk } = (await this.#pool.run({ shrinkThread: threadId })) as ShrinkResult
    if (isShrunk) this.#options.onShrunk?.(threadId)
    return isShrunk
  }

  #replaceIfShrunk(candidate: Pool): void {
    if (candidate !== this.#pool || candidate.threads.length >= this.#started()) return
    this.#pool = null
    this.#restart = setTimeout(() => {
      this.#pool = this.#start()
    }, RESTART_MS)
    void candidate.destroy()
  }
}

/** Starts threads; a test may bring its own. */
export type StartThreads = (options: ThreadOptions) => Threads

export const startThreads: StartThreads = options => new WorkerThreads(options)

type Balance = NonNullable<NonNullable<ConstructorParameters<typeof Piscina>[0]>['loadBalancer']>

/**
 * Gives each message to the free thread that is wanted, else to the first free one, as Piscina's
 * own balancer does. A message that finds no free thread waits in Piscina, and its thread is not
 * known.
 */
function createBalancer() {
  let wanted: number | undefined
  let chosen: number | undefined
  const balance: Balance = (_task, threads) => {
    const free = threads.filter(({ currentUsage }) => currentUsage === 0)
    const thread = free.find(({ id }) => id === wanted) ?? free[0] ?? null
    chosen = thread?.id
    return thread
  }
  return {
    balance,
    /** Sends a message, and gives the id of the thread that got it at once. */
    place<T>(near: number | undefined, send: () => T) {
      wanted = near
      chosen = undefined
      const sent = send()
      wanted = undefined
      return { sent, thread: chosen as number | undefined }
    },
  }
}

type TransferList = NonNullable<NonNullable<Parameters<Piscina['run']>[1]>['transferList']>

/** Piscina takes an array; its type is inferred from the wrong overload of `postMessage`. */
function movable(body: ArrayBuffer): TransferList {
  return [body] as unknown as TransferList
}

/** Has idle threads give back the memory that large jobs took, one thread at a time. */
export interface Shrinking {
  /** Notes that the heap of a thread has grown. */
  noteGrown(threadId: number): void
  /** Forgets a thread that has ended. */
  forget(threadId: number): void
  close(): void
}

export interface ShrinkingOptions {
  /** Threads that run no batch now. */
  idle(): number
  /**
   * Asks an idle thread, whichever it is, to shrink if it has this id; resolves to whether it did.
   */
  ask(threadId: number): Promise<boolean>
  /** Milliseconds, never going back. */
  now(): number
}

/**
 * Pause before a grown heap is looked after, and between two of them, in milliseconds. It begins
 * again when a grown thread has run a batch, because such a thread will need its memory again.
 */
export const SHRINK_PAUSE_MS = 5_000
/** But a grown heap waits no longer than that. */
export const SHRINK_LATEST_MS = 60_000

/**
 * A message cannot be sent to a chosen thread. So each idle thread gets a message with the id of
 * the thread that is meant. The others answer at once, and are free for jobs again. A thread that
 * is busy now is asked again after a pause.
 */
export function createShrinking({ idle, ask, now }: ShrinkingOptions): Shrinking {
  const grown = new Set<number>()
  let timer: NodeJS.Timeout | undefined
  let isShrinking = false
  let scheduledAt = 0
  let closed = false

  function schedule(): void {
    if (closed || grown.size === 0 || isShrinking) return
    if (timer !== undefined) {
      if (now() - scheduledAt < SHRINK_LATEST_MS - SHRINK_PAUSE_MS) timer.refresh()
      return
    }
    scheduledAt = now()
    timer = setTimeout(async () => {
      timer = undefined
      isShrinking = true
      const [first] = grown
      if (first !== undefined) await shrinkNext(first)
      isShrinking = false
      schedule()
    }, SHRINK_PAUSE_MS)
    timer.unref()
  }

  async function shrinkNext(threadId: number): Promise<void> {
    const asked = Array.from({ length: idle() }, async () => {
      if (await ask(threadId)) grown.delete(threadId)
    })
    // A thread that is lost meanwhile needs nothing more.
    await Promise.allSettled(asked)
    // The thread goes to the end of the order, so that a thread that is busy for long does not
    // delay others.
    if (grown.delete(threadId)) grown.add(threadId)
  }

  return {
    noteGrown(threadId) {
      grown.add(threadId)
      schedule()
    },
    forget: threadId => grown.delete(threadId),
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
