import { hash } from 'node:crypto'
import type { ShapeReport } from '../classify/classify.ts'
import type { EncodeAnswer } from '../contract/encode.ts'
import {
  type KeptRow,
  MAX_NAME,
  type Refusal,
  type ResultRow,
  type UnchangedReason,
} from '../contract/result-row.ts'
import { type CallFacts, pathOf } from '../sessions/turn/call-facts.ts'
import { commandOfCall } from './endpoint-class.ts'
import type { ResponseFacts } from './event.ts'
import type { Pseudonyms } from './pseudonyms.ts'
import { NO_SESSION } from './pseudonyms.ts'

/** A result before any change. */
export interface ResultSource {
  readonly call: CallFacts & {
    readonly session?: string | undefined
    readonly is_sidechain?: boolean | undefined
  }
  readonly content: string
  /** SHA-256 of the content's UTF-8 bytes, hexadecimal, if it is known already. */
  readonly identity?: string | undefined
  readonly shape: ShapeReport
}

/** How it was answered. */
export type ResultAnswer = Pick<
  EncodeAnswer,
  'content' | 'layer' | 'format' | 'view' | 'elided' | 'tokens' | 'savings' | 'partition'
>

const SESSION_DIGITS = 16
const TEXT_DIGITS = 24

/** @param answer whose format has no styles */
export function resultRow(
  { call, content, identity, shape }: ResultSource,
  answer: ResultAnswer,
  refusals: readonly Refusal[],
): ResultRow {
  const { layer, format, view = null, tokens, savings, partition } = answer
  const { tool = null, args, session = null, tool_call_id: id = null, is_sidechain } = call
  const digest = identity ?? hash('sha256', content)
  const received = digest.slice(0, TEXT_DIGITS)
  const isSame = answer.content === content
  const command = commandOfCall(call.tool, args)
  return {
    call: { tool, command, session, id, file: pathOf(call) ?? null, sidechain: !!is_sidechain },
    conversation: null,
    input: {
      bytes: Buffer.byteLength(content),
      identity: identity !== undefined || content.isWellFormed() ? digest : digestOfUnits(content),
      received,
      original: identity ?? answer.elided[0]?.hash ?? null,
      ...shape,
    },
    sent: {
      layer,
      format,
      view,
      partition,
      identity: isSame ? received : hash('sha256', answer.content).slice(0, TEXT_DIGITS),
    },
    tokens: {
      tokenizer: tokens.tokenizer,
      exact: tokens.exact,
      before: tokens.baseline,
      referred: savings.dedup_tokens,
      encoded: savings.encoder_tokens,
      omitted: savings.elided_tokens,
      after: tokens.final,
    },
    refusals,
  }
}

/** Text with lone surrogates has no UTF-8 of its own, so that two could look like one. */
function digestOfUnits(content: string): string {
  return hash('sha256', Buffer.from(content, 'utf16le'), 'hex')
}

/**
 * The facts that telemetry has of a result: counts, names from tables, and hashes. It has nothing
 * of the content or the arguments.
 */
export function factsOf(row: ResultRow, pseudonyms: Pseudonyms): ResponseFacts {
  const { call, input, sent, tokens } = row
  const tool = pseudonyms.tool(call.tool ?? undefined)
  // Always the same fields in the same order: unknown ones are left out when the line is written.
  return {
    session_hash: sessionHash(row, pseudonyms),
    tool_call_id_hash: call.id === null ? undefined : pseudonyms.toolCall(call.id),
    tool_name_anon: tool,
    endpoint_class: call.command ?? tool,
    response_chars: input.bytes,
    shape: input.shape as ResponseFacts['shape'],
    inner_formats: input.inner_formats as ResponseFacts['inner_formats'],
    content_sha_prefix: pseudonyms.content(input.identity),
    file_path_hash: call.file === null ? undefined : pseudonyms.filePath(call.file),
    is_dedup_hit: sent.layer === 'L0',
    layer_used: sent.layer,
    // A label is the format's name with its version.
    template_id: sent.layer === 'L1' ? sent.format.split('@')[0] : undefined,
    tokenizer: tokens.tokenizer,
    tokens_baseline: tokens.before,
    tokens_final: tokens.after,
    dedup_tokens_saved: tokens.referred,
    encoder_tokens_saved: tokens.encoded,
    elided_tokens_saved: tokens.omitted,
    context_partition: sent.partition,
    is_sidechain: call.sidechain,
    n_cols: input.n_cols,
    n_rows: input.n_rows,
    key_stability: input.key_stability,
    depth: input.depth,
    retrieved_of: row.retrieved_of as ResponseFacts['retrieved_of'],
    needed_of: row.needed_of as ResponseFacts['needed_of'],
  }
}

function sessionHash({ call, conversation }: ResultRow, pseudonyms: Pseudonyms): string {
  if (call.session !== null) return pseudonyms.session(call.session)
  if (conversation === null) return NO_SESSION
  return pseudonyms.session(`${conversation.kind} ${conversation.name}`)
}

/** What the ledger keeps: no session's id, which may be a secret of its client. */
export function keptRow({ call, conversation, input, sent, tokens, refusals }: ResultRow): KeptRow {
  const { after: _, ...counts } = tokens
  const tool = call.tool === null ? null : shortName(call.tool)
  const opening = conversation?.kind === 'opening' ? conversation.name : null
  const session = call.session ?? opening
  return {
    tool,
    class: call.command ?? tool ?? '',
    shape: input.shape,
    layer: sent.layer,
    format: sent.format,
    view: sent.view,
    ...counts,
    session:
      session === null ? null : hash('sha256', `session ${session}`).slice(0, SESSION_DIGITS),
    original: input.original,
    received: input.received,
    sent: sent.identity,
    reason: sent.layer === 'L3' && counts.omitted === 0 ? reasonOf(refusals) : null,
  }
}

function shortName(name: string): string {
  return name.slice(0, MAX_NAME).toWellFormed()
}

function reasonOf(refusals: readonly Refusal[]): UnchangedReason {
  if (refusals.some(({ reason }) => reason === 'differs' || reason === 'failed')) return 'not_exact'
  return refusals.length > 0 ? 'not_smaller' : 'no_format'
}
