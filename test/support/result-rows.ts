import type { ResultRow } from '../../src/core/contract/result-row.ts'

type Part = 'call' | 'input' | 'sent' | 'tokens'
type Changes = Partial<Omit<ResultRow, Part>> & {
  readonly [P in Part]?: Partial<ResultRow[P]>
}

/** The row of a result of 10 tokens that became 5. */
export function rowWith({ call, input, sent, tokens, ...more }: Changes = {}): ResultRow {
  const none = { tool: null, command: null, session: null, id: null, file: null }
  return {
    call: { ...none, sidechain: false, ...call },
    conversation: null,
    input: {
      bytes: 40,
      identity: '0'.repeat(64),
      received: '0'.repeat(24),
      original: null,
      shape: 'object',
      inner_formats: [],
      ...input,
    },
    sent: {
      layer: 'L2',
      format: 'csv@1',
      view: null,
      partition: 0,
      identity: '1'.repeat(24),
      ...sent,
    },
    tokens: {
      tokenizer: 'o200k_base',
      exact: true,
      before: 10,
      referred: 0,
      encoded: 5,
      omitted: 0,
      after: 5,
      ...tokens,
    },
    refusals: [],
    ...more,
  }
}
