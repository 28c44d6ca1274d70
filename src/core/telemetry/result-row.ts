import { hash } from 'node:crypto'
import type { EncodeAnswer } from '../contract/encode.ts'
import type { LedgerRow, Refusal } from '../contract/operation-result.ts'
import {
  MAX_NAME,
  MAX_TEXTS,
  type ResultRow,
  type UnchangedReason,
} from '../contract/result-row.ts'
import { endpointClass } from './endpoint-class.ts'
import type { ResponseSource } from './response-facts.ts'

const SESSION_DIGITS = 16
const TEXT_DIGITS = 24

/** The ledger's row of a result, with its texts if they are kept and not too long. */
export function resultRow(
  { call, content, identity, shape }: ResponseSource,
  answer: EncodeAnswer,
  format: string,
  refusals: readonly Refusal[],
  keepsTexts: boolean,
): LedgerRow {
  const { layer, tokens, savings, view = null } = answer
  const { tool, args, session } = call
  const received = (identity ?? hash('sha256', content)).slice(0, TEXT_DIGITS)
  const row: ResultRow = {
    tool: tool === undefined ? null : shortName(tool),
    class: endpointClass(tool, args, name => shortName(name ?? '')),
    shape: shape.shape,
    layer,
    format,
    view,
    tokenizer: tokens.tokenizer,
    exact: tokens.exact,
    before: tokens.baseline,
    referred: savings.dedup_tokens,
    encoded: savings.encoder_tokens,
    omitted: savings.elided_tokens,
    session: session === undefined ? null : sessionName(session),
    original: identity ?? answer.elided[0]?.hash ?? null,
    received,
    sent:
      answer.content === content ? received : hash('sha256', answer.content).slice(0, TEXT_DIGITS),
    reason: layer === 'L3' && savings.elided_tokens === 0 ? reasonOf(refusals) : null,
  }
  const json = { row: JSON.stringify(row) }
  if (!keepsTexts || content.length + answer.content.length > MAX_TEXTS) return json
  return { ...json, texts: { before: content, after: answer.content, format: answer.format } }
}

/** A row without a session, as one of a conversation that opens so. */
export function ofConversation({ row, ...rest }: LedgerRow, opening: string): LedgerRow {
  const fields = JSON.parse(row) as ResultRow
  const session = fields.session ?? sessionName(opening)
  return { row: JSON.stringify({ ...fields, session }), ...rest }
}

/** A session's name in the ledger, 16 hex digits: the id itself may be a secret of its client. */
function sessionName(session: string): string {
  return hash('sha256', `session ${session}`).slice(0, SESSION_DIGITS)
}

function shortName(name: string): string {
  return name.slice(0, MAX_NAME).toWellFormed()
}

function reasonOf(refusals: readonly Refusal[]): UnchangedReason {
  if (refusals.some(({ reason }) => reason === 'differs' || reason === 'failed')) return 'not_exact'
  return refusals.length > 0 ? 'not_smaller' : 'no_format'
}
