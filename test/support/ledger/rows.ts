import type { ArrivedResult } from '../../../src/book/arrivals.ts'
import type { Turn } from '../../../src/book/rows/turn.ts'
import type { KeptRow, ResultRow } from '../../../src/core/contract/result-row.ts'
import { rowWith } from '../result-rows.ts'

const ROW: KeptRow = {
  tool: 'search',
  class: 'search',
  shape: 'array_of_objects',
  layer: 'L1',
  format: 'csv@1',
  view: null,
  tokenizer: 'o200k_base',
  exact: true,
  before: 100,
  referred: 0,
  encoded: 40,
  omitted: 0,
  session: null,
  original: null,
  received: '',
  sent: '',
  reason: null,
}

/** Refusals by the reason that a row has of them. */
const REFUSALS = {
  no_format: [],
  not_smaller: [{ format: 'csv@1', reason: 'bigger' }],
  not_exact: [{ format: 'csv@1', reason: 'differs' }],
} as const

let texts = 0

/** A result of the tenant, now unless told otherwise. Its session is that of the ledger. */
export function resultOf(
  tenant: string,
  row: Partial<KeptRow> = {},
  about: Partial<ArrivedResult> = {},
  more: Parameters<typeof rowWith>[0] = {},
): ArrivedResult {
  const received = String(texts++)
  const { reason, session, ...kept } = { ...ROW, received, sent: `packed ${received}`, ...row }
  const { tool, class: command, shape, view, format, original } = kept
  const { tokenizer, exact, before, referred, encoded, omitted } = kept
  const layer = reason === null ? (kept.layer as ResultRow['sent']['layer']) : 'L3'
  const after = before - referred - encoded - omitted
  const whole = rowWith({
    call: { tool, command: command === ROW.class ? null : command, ...more.call },
    input: { received: kept.received, original, shape, ...more.input },
    sent: { layer, format, view, identity: kept.sent },
    tokens: { tokenizer, exact, before, referred, encoded, omitted, after },
    refusals: reason === null ? [] : REFUSALS[reason],
  })
  const of = session === null ? {} : { conversation: session }
  return { tenant, at: Date.now(), source: 'encode', row: JSON.stringify(whole), ...of, ...about }
}

export function turnOf(turn: Partial<Turn> = {}): Turn {
  return {
    tenant: 'local',
    at: Date.now(),
    vendor: 'anthropic',
    conversation: 'c'.repeat(16),
    model: 'm',
    known: true,
    uncached: 10,
    cache_read: 50,
    cache_write: 20,
    output: 5,
    removed: 30,
    billed: 40,
    without: 60,
    untouched: null,
    prefix_changed: false,
    tools: [],
    money: null,
    isHidden: false,
    ...turn,
  }
}
