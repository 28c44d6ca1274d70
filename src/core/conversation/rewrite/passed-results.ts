import { hash } from 'node:crypto'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import type { HintFamily } from '../../hints/hint.ts'
import { MAX_DELTA_BYTES } from '../../sessions/near/find-changes.ts'
import type { DedupTerms } from '../../sessions/turn/dedup-terms.ts'
import type { Shown } from '../../sessions/turn/earlier-results.ts'
import { MAX_CALLS_AGO } from '../../sessions/turn/refer-to-changes.ts'
import type { SentNote } from './sent-notes.ts'

/** A result of a conversation; of `start` and `end` only their distance counts. */
export type HistoryResult = Pick<
  ToolResultText,
  | 'start'
  | 'end'
  | 'text'
  | 'tool'
  | 'args'
  | 'callsAhead'
  | 'isWhole'
  | 'part'
  | 'ordinal'
  | 'firstOfCall'
>

/** How a result of the history was written; only what later results need. */
export interface WrittenResult extends Pick<SentNote, 'hints'> {
  /** What a reader finds of it. */
  readonly shown?: Shown
  /** Whether later results may refer to it. */
  readonly isSource: boolean
}

/** A result that was passed, with the bytes of all results up to its end. */
export interface Passed {
  readonly result: HistoryResult
  readonly written: WrittenResult
  readonly end: number
}

/**
 * The last result of the same tool and arguments that a reader has whole, if it is at most eight
 * calls before.
 */
export function lastWhole(
  passed: readonly Passed[],
  now: HistoryResult,
  { lruSize }: DedupTerms,
): HistoryResult | undefined {
  let left = lruSize
  const args = JSON.stringify(now.args())
  for (let index = passed.length - 1; index >= 0; index--) {
    const { result, written } = passed[index]!
    if (now.ordinal - result.ordinal > MAX_CALLS_AGO) return undefined
    const isSame =
      result.tool === now.tool &&
      result.part === now.part &&
      result.callsAhead === now.callsAhead &&
      result.ordinal < now.ordinal
    if (!isSame || !written.isSource) continue
    if (left-- === 0) return undefined
    if (written.shown?.isValue !== true) continue
    if (JSON.stringify(result.args()) === args) return result
  }
  return undefined
}

/**
 * Earlier results of the same tool of which the content may differ in a few values, the newest
 * first. Each was sent without references, so that a reader has its values.
 */
export function* nearEntries(
  passed: readonly Passed[],
  { tool, callsAhead }: HistoryResult,
  content: string,
  { lruSize }: Pick<DedupTerms, 'lruSize'>,
): Generator<{ readonly identity: string; readonly bytes: number }> {
  let left = lruSize
  for (let index = passed.length - 1; index >= 0 && left > 0; index--) {
    const { result, written } = passed[index]!
    if (result.tool !== tool || result.callsAhead !== callsAhead || !written.isSource) continue
    left--
    const isWhole = written.shown?.covered === undefined
    if (!isWhole || written.hints?.some(family => REFERRING.has(family))) continue
    const text = result.text()
    if (Math.abs(text.length - content.length) > MAX_DELTA_BYTES) continue
    if (text.startsWith('{')) yield { identity: identityOf(text), bytes: Buffer.byteLength(text) }
  }
}

const REFERRING: ReadonlySet<HintFamily> = new Set(['reference', 'near_reference', 'lines'])

/** SHA-256 of a result's UTF-8, hexadecimal. */
export function identityOf(text: string): string {
  return hash('sha256', Buffer.from(text, 'utf8'), 'hex')
}
