import type { FreshRecord } from '../../src/core/contract/operation-result.ts'
import type { RequestTerms } from '../../src/core/contract/request-terms.ts'
import { createHeadMemory } from '../../src/core/conversation/prefix/head-memory.ts'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import {
  type RewrittenRequest,
  rewriteRequest,
} from '../../src/core/conversation/rewrite/rewrite-request.ts'
import { readStored } from '../../src/core/conversation/rewrite/stored-rewrite.ts'
import type { RouteName } from '../../src/core/dialects/lookup.ts'
import { OPEN_BRACE } from '../../src/core/json/char-codes.ts'
import { pipelineSchema } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { bytesOf } from './runner.ts'
import { counters } from './vocabularies.ts'

const LIMITS = { maxBytes: 1 << 26, maxDepth: 100, maxValues: 1_000_000 }

/** The record that processes share, as `runByRecord` and the store use it. */
export type Store = Map<string, Uint8Array>

export interface RecordingProxy {
  send(body: object | string): RewrittenRequest
  /** The body as it is sent. */
  text(body: object | string): string
}

export interface RecordingOptions {
  readonly route?: RouteName
  readonly store?: Store
  /** Absent: the system's clock. */
  now?(this: void): number
  readonly terms?: RequestTerms
}

/** A process that rewrites requests by its configuration and the record. */
export function recordingProxy(
  pipeline: object,
  { route = 'anthropic_messages', store = new Map(), now, terms }: RecordingOptions = {},
): RecordingProxy {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 18 }))
  const history = createHistoryMemory(2, 1 << 19)
  const heads = createHeadMemory()
  const config = pipelineSchema.parse(pipeline)

  function send(body: object | string): RewrittenRequest {
    const bytes = bytesOf(typeof body === 'string' ? body : JSON.stringify(body))
    let recalled: Record<string, Uint8Array> = {}
    for (;;) {
      const done = rewriteRequest(bytes, route, LIMITS, {
        counters,
        maxDepth: 100,
        maxDecodedChars: 1_000_000,
        keepsOriginals: true,
        pipeline: config,
        rewrites: { tenant: 't', memory, recalled, history, heads, ...(now && { now }) },
        ...(terms && { terms }),
      })
      const found = done.records.filter(({ key }) => store.has(key) && !(key in recalled))
      const differing = found.filter(({ key, bytes: own }) => !equal(store.get(key)!, own))
      if (differing.length === 0) {
        for (const { key, bytes: own, position, isQuestion } of done.records) {
          if (!store.has(key) && isQuestion !== true) store.set(key, own)
          if (position !== null) memory.confirm(position)
        }
        return done
      }
      const others = found.map(({ key }) => [key, store.get(key)!] as const)
      recalled = { ...recalled, ...Object.fromEntries(others) }
    }
  }

  return { send, text: body => Buffer.from(send(body).bytes).toString() }
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

/** Records of results, without those of the levers of conversations. */
export function resultRecords(records: readonly FreshRecord[]): FreshRecord[] {
  return records.filter(({ bytes }) => readStored(bytes)?.literal?.[0] !== OPEN_BRACE)
}
