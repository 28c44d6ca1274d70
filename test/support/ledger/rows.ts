import type { Turn } from '../../../src/book/rows/turn.ts'
import type { ArrivedResult } from '../../../src/book/rows/write-rows.ts'
import type { KeptRow } from '../../../src/core/contract/result-row.ts'

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

let texts = 0

/** A result of the tenant, now unless told otherwise. */
export function resultOf(
  tenant: string,
  row: Partial<KeptRow> = {},
  about: Partial<ArrivedResult> = {},
): ArrivedResult {
  const received = String(texts++)
  const json = JSON.stringify({ ...ROW, received, sent: `packed ${received}`, ...row })
  return { tenant, at: Date.now(), source: 'encode', row: json, ...about }
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
