import { hash } from 'node:crypto'
import type { ShapeReport } from '../classify/classify.ts'
import type { EncodeAnswer } from '../contract/encode.ts'
import { type CallFacts, pathOf } from '../sessions/turn/call-facts.ts'
import { endpointClass } from './endpoint-class.ts'
import type { ResponseFacts } from './event.ts'
import type { Pseudonyms } from './pseudonyms.ts'

/** A result before any change. */
export interface ResponseSource {
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
export interface ResponseAnswer extends Pick<EncodeAnswer, 'layer' | 'tokens' | 'savings'> {
  readonly partition: number
  /** The name of the format, for L1. */
  readonly template?: string | undefined
}

/**
 * The facts that telemetry has of a response: counts, names from tables, and hashes. It has nothing
 * of the content or the arguments.
 */
export function responseFacts(
  { call, content, identity = digestOf(content), shape }: ResponseSource,
  answer: ResponseAnswer,
  pseudonyms: Pseudonyms,
): ResponseFacts {
  const { session, tool, args, tool_call_id, is_sidechain } = call
  const { layer, tokens, savings, partition, template } = answer
  const path = pathOf(call)
  // Always the same fields in the same order: unknown ones are left out when the line is written.
  return {
    session_hash: session === undefined ? pseudonyms.unnamed : pseudonyms.session(session),
    tool_call_id_hash: tool_call_id === undefined ? undefined : pseudonyms.toolCall(tool_call_id),
    tool_name_anon: pseudonyms.tool(tool),
    endpoint_class: endpointClass(tool, args, pseudonyms.tool),
    response_chars: Buffer.byteLength(content),
    shape: shape.shape,
    inner_formats: shape.inner_formats as ResponseFacts['inner_formats'],
    content_sha_prefix: pseudonyms.content(identity),
    file_path_hash: path === undefined ? undefined : pseudonyms.filePath(path),
    is_dedup_hit: layer === 'L0',
    layer_used: layer,
    template_id: layer === 'L1' ? template : undefined,
    tokenizer: tokens.tokenizer,
    tokens_baseline: tokens.baseline,
    tokens_final: tokens.final,
    dedup_tokens_saved: savings.dedup_tokens,
    encoder_tokens_saved: savings.encoder_tokens,
    elided_tokens_saved: savings.elided_tokens,
    context_partition: partition,
    is_sidechain: is_sidechain === true,
    n_cols: shape.n_cols,
    n_rows: shape.n_rows,
    key_stability: shape.key_stability,
    depth: shape.depth,
  }
}

/** As JSON: a text crosses to another thread at a fifth of what an object costs. */
export function writeFacts(facts: ResponseFacts): string {
  return JSON.stringify(facts)
}

/** The same facts with more. @param response as `writeFacts` gives it */
export function addFacts(response: string, more: Partial<ResponseFacts>): string {
  return writeFacts({ ...parseFacts(response), ...more })
}

/** @param response as `writeFacts` gives it, which is not checked */
export function parseFacts(response: string): ResponseFacts {
  return JSON.parse(response) as ResponseFacts
}

/** Text with lone surrogates has no UTF-8 of its own, so that two could look like one. */
function digestOf(content: string): string {
  return hash('sha256', content.isWellFormed() ? content : Buffer.from(content, 'utf16le'), 'hex')
}
