import { createAccess } from '../../src/access/access.ts'
import type { EncodeAnswer } from '../../src/core/contract/encode.ts'
import type { DedupAnswer } from '../../src/core/contract/sessions.ts'
import { createSessionDesk } from '../../src/core/operations/session-desk.ts'
import {
  type PipelineConfig,
  pipelineSchema,
} from '../../src/core/pipeline/profile/pipeline-config.ts'
import {
  attachSessions,
  createSharedSessions,
  MAIN_OWNER,
} from '../../src/core/sessions/turn/shared-sessions.ts'
import { WorkerPool } from '../../src/pool/pool.ts'
import { createProgress } from '../../src/pool/slots.ts'
import type { Threads } from '../../src/pool/threads.ts'
import { StoredOriginals } from '../../src/store/originals.ts'
import { SessionSharing } from '../../src/store/sharing/session-sharing.ts'
import type { FailureReason, Store } from '../../src/store/store.ts'
import { fail } from '../../src/store/values/failure.ts'
import { testApp } from './app.ts'
import { keyFor } from './keys.ts'
import { inlineRunner, inlineThreads, workerSetup } from './runner.ts'

const HOUR_MS = 3_600_000
const BODY_BYTES = 1 << 20

/** Vocabularies are read once. */
const setup = workerSetup()

/** What sessions use of a store. */
type SessionStore = Pick<Store, 'put' | 'get' | 'part' | 'touch' | 'purgeSession' | 'journal'>

export interface SessionAppOptions {
  readonly store: SessionStore
  /** The store's clock. */
  readonly clock: { readonly now: number }
  readonly pipeline?: PipelineConfig
  readonly bodyBytes?: number
  readonly maxSessions?: number
  readonly ttlMs?: number
  /** Whether other processes share the sessions through the store. */
  readonly isShared?: boolean
  /** See `KnownSessions`. */
  readonly calmTurns?: number
}

/** What goes wrong, until it is told otherwise. */
export interface Mishaps {
  /** Every put is refused. */
  put: FailureReason | null
  /** Batches whose thread is lost after it has run them. */
  lost: number
  /** Called before each answer of the store to a put. */
  beforeKept: () => Promise<void>
}

/**
 * The app with sessions and a store, without a port and without threads: what a process of the
 * service remembers.
 */
export function sessionApp(options: SessionAppOptions) {
  const { store, clock, pipeline = pipelineSchema.parse({}), ttlMs = HOUR_MS } = options
  const { isShared = false } = options
  const mishaps: Mishaps = { put: null, lost: 0, beforeKept: async () => {} }
  const shared = createSharedSessions(
    { maxSessions: options.maxSessions ?? 1_000, maxEntries: 5_000, seeds: [1, 2] },
    options.bodyBytes ?? BODY_BYTES,
  )
  const sessions = attachSessions(shared, { owner: MAIN_OWNER, maxWaitMs: 5 })
  const runBatch = inlineRunner(undefined, {
    ...setup,
    asked: { sessions: isShared },
    pipeline,
    sessions: shared,
  })
  const inline = inlineThreads(runBatch)
  const threads: Threads = {
    ...inline,
    async run(message, signal) {
      const result = await inline.run(message, signal)
      if (mishaps.lost-- > 0) throw new Error('lost')
      return result
    },
  }
  const failing: SessionStore = {
    get: (...of) => store.get(...of),
    part: (...of) => store.part(...of),
    touch: (...of) => store.touch(...of),
    purgeSession: (...of) => store.purgeSession(...of),
    async put(items: Parameters<Store['put']>[0]) {
      if (mishaps.put !== null) return items.map(() => fail(mishaps.put ?? 'full', 'a test'))
      const kept = await store.put(items)
      await mishaps.beforeKept()
      return kept
    },
  }
  const lifetimes = () => ({ originalMs: ttlMs, sessionMs: ttlMs })
  const now = () => clock.now
  const { calmTurns = 64 } = options
  const ofSharing = { store, sessions, ttlMs: () => ttlMs, now, calmTurns }
  const sharing = new SessionSharing(ofSharing)
  const records = ['acme', 'beta'].map(name => keyFor(name, { scopes: ['encode', 'retrieve'] }))
  const { app, logged } = testApp({
    pool: new WorkerPool({
      threads,
      progress: createProgress(1),
      limits: () => ({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000, maxWaitMs: 60_000 }),
      onBug(_, bug) {
        throw new Error(bug)
      },
      onThreadLost: () => {},
    }),
    access: createAccess(
      records.map(({ record }) => record),
      () => 0,
    ),
    originals: new StoredOriginals(failing, lifetimes, () => clock.now),
    sessions,
    desk: createSessionDesk(sessions.index),
    maxBodyBytes: 1_000_000,
    ...(isShared ? { sharing } : {}),
  })

  /** @param tenant 0 or 1 */
  async function call(method: string, path: string, body?: object, tenant = 0): Promise<unknown> {
    const response = await app.request(path, {
      method,
      headers: { 'x-api-key': records[tenant]!.key, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const answer = (await response.json()) as Record<string, unknown>
    return response.ok ? answer : { status: response.status, code: answer['code'] }
  }

  return {
    mishaps,
    sessions,
    logged,
    call,
    post: (path: string, body: object, tenant?: number) => call('POST', path, body, tenant),
    encode: async (body: object, tenant?: number) =>
      (await call('POST', '/v1/encode', body, tenant)) as EncodeAnswer,
    dedup: async (body: object, tenant?: number) =>
      (await call('POST', '/v1/dedup', body, tenant)) as DedupAnswer,
    async decode(
      { content, format }: Pick<EncodeAnswer, 'content' | 'format'>,
      session: string,
      tenant?: number,
    ) {
      const answer = await call('POST', '/v1/decode', { content, format, session }, tenant)
      return (answer as Record<string, unknown>)['content']
    },
    /** Lines of an original, as `lines=` gives them. */
    async part(ref: string, lines: string, session: string, tenant?: number) {
      const path = `/v1/retrieve/${ref}?session=${session}&lines=${lines}`
      const answer = (await call('GET', path, undefined, tenant)) as Record<string, unknown>
      return answer['original_content']
    },
    async original(ref: string, session: string, tenant?: number) {
      const answer = await call('GET', `/v1/retrieve/${ref}?session=${session}`, undefined, tenant)
      return (answer as Record<string, unknown>)['original_content']
    },
  }
}

/** A text in which every line is its own, some 1,800 characters. */
export function sourceText(name: string, lines = 40): string {
  return Array.from({ length: lines }, (_, i) => {
    return `${(7919 * (i + 11)).toString(36)}(${name}, ${i * i}) // ${(i * 104729).toString(36)}`
  }).join('\n')
}
