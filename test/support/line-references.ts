import { hash } from 'node:crypto'
import type { Verbosity } from '../../src/core/hints/hint.ts'
import { type SessionKey, sessionKey } from '../../src/core/sessions/index/session-index.ts'
import { attachBodyMemory, type BodyMemory } from '../../src/core/sessions/lines/body-memory.ts'
import { decodeLines } from '../../src/core/sessions/lines/decode-lines.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { encodeLines, planLines, type RunTerms } from '../../src/core/sessions/lines/plan-lines.ts'
import type { EarlierResult } from '../../src/core/sessions/lines/reference-line.ts'
import { scanText } from '../../src/core/sessions/lines/scan-text.ts'
import { lengthCounter } from './length-counter.ts'

/** One agent's context: results that are kept, and answers that refer to them. */
export interface Context {
  readonly memory: BodyMemory
  readonly key: SessionKey
  /** Keeps a body and allows references to it; its ref. */
  keep(text: string, call?: EarlierResult['call']): string
  /** Keeps a body that must not be referred to. */
  keepSilently(text: string): void
  /** The answer for a text, or `null` if nothing is saved. */
  refer(text: string, verbosity?: Verbosity): string | null
  /** The text of an answer. */
  restore(answer: string, maxChars?: number): string
}

const MAX_CHARS = 1 << 24

/** References that save anything are worth it. */
const ANY: RunTerms = { price: 0, leastLines: 1, leastTokens: 0 }

/**
 * A context over a memory of its own, or over one that it shares. Four characters count as a token.
 */
export function createContext(
  memory?: ArrayBufferLike,
  session = 's',
  terms: RunTerms = ANY,
): Context {
  const bodies = attachBodyMemory(memory ?? createBodyMemory({ bytes: 1 << 20 }))
  const key = sessionKey('tenant', session)
  const earlier = new Map<string, EarlierResult & { readonly text: string }>()

  function keepSilently(text: string): void {
    const scanned = scanText(text, key)
    if (scanned !== null) bodies.put(scanned, key, hash('sha256', text))
  }

  return {
    memory: bodies,
    key,
    keepSilently,
    keep(text, call) {
      keepSilently(text)
      const identity = hash('sha256', text)
      const ref = identity.slice(0, 16)
      earlier.set(identity, { ref, text, ...(call === undefined ? {} : { call }) })
      return ref
    },
    refer(text, verbosity = 'standard') {
      const scanned = scanText(text, key)
      if (scanned === null) return null
      const find = (identity: string) => earlier.get(identity)
      const options = { counter: lengthCounter(4), verbosity, terms }
      const plan = planLines(scanned, { memory: bodies, key, find }, options)
      return plan === null ? null : encodeLines(plan)
    },
    restore(answer, maxChars = MAX_CHARS) {
      const resolve = (ref: string) =>
        [...earlier.values()].find(result => result.ref.startsWith(ref))?.text
      return decodeLines(answer, resolve, maxChars)
    },
  }
}
