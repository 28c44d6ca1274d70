import type { EncodeAnswer, EncodeRequest } from '../../../../src/core/contract/encode.ts'
import { parseHint } from '../../../../src/core/hints/hint-line.ts'
import { identityOf } from '../../../../src/core/verify/agent-contexts.ts'
import type { Exchange, TranscriptEntry } from '../../../../src/core/verify/transcript.ts'
import { type Finding, verifyTranscript } from '../../../../src/core/verify/verify-transcript.ts'
import { context } from './recorded.ts'

const ZERO_TOKENS = { dedup_tokens: 0, encoder_tokens: 0, elided_tokens: 0 }

/** An answer that returns `shown`; its accounts are not filled in. */
export function exchange(
  request: EncodeRequest & { readonly content: string },
  shown: string,
  fields: Partial<EncodeAnswer> = {},
): Exchange {
  const answer: EncodeAnswer = {
    content: shown,
    layer: 'L3',
    format: 'passthrough',
    shape: 'prose',
    inner_formats: [],
    tokens: { tokenizer: 'o200k_base', exact: true, baseline: 0, final: 0 },
    lossless: true,
    hints: [],
    elided: [],
    savings: ZERO_TOKENS,
    bytes: { raw: 0, output: 0 },
    compression_ratio: 1,
    truncated: false,
    partition: 0,
    ...fields,
  }
  return { request: { session: 's', ...request }, answer }
}

/** An answer that returns `left` of `original`, and a marker with `claims`. */
export function elided(original: string, left: string, claims: string): Exchange {
  const hash = identityOf(original).slice(0, 24)
  const text = `> [${claims} not shown | hash=${hash}]`
  const hint = parseHint(text)
  if (hint?.family !== 'elision') throw new Error(`${text} is no marker`)
  const sums = new Map<string, number>()
  for (const { unit, omitted } of hint.parts) sums.set(unit, (sums.get(unit) ?? 0) + omitted)
  const [unit, count] = [...sums].reduce((most, each) => (each[1] > most[1] ? each : most))
  return exchange({ content: original, mode: 'trim' }, `${left}\n${text}`, {
    format: 'trimmed@1;passthrough',
    lossless: false,
    truncated: true,
    hints: [{ family: 'elision', text }],
    elided: [{ hash, unit, count, tokens: 0 }],
  })
}

/** What is wrong with the hints of the last entry. */
export function hintFaults(...entries: readonly TranscriptEntry[]): readonly string[] {
  return findingsIn(entries)
    .filter(({ hint, line }) => hint !== undefined && line === entries.length)
    .map(({ reason }) => reason)
}

function findingsIn(entries: readonly TranscriptEntry[]): readonly Finding[] {
  const lines = entries.map((entry, index) => ({ line: index + 1, entry }))
  return verifyTranscript(lines, context.counters)
}
