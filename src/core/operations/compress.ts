import { AppError } from '../base/errors.ts'
import {
  type CompressAnswer,
  type CompressRequest,
  compressAnswer,
  compressRequest,
} from '../contract/compress.ts'
import type { Report } from '../contract/operation-result.ts'
import {
  compressMessages,
  type Payload,
  tokensAfter,
} from '../conversation/rewrite/compress-messages.ts'
import { countNewTexts, openingOf } from '../conversation/rewrite/message-texts.ts'
import type { Fields } from '../dialects/bodies/route.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { bareFormat, ESCAPED_LABEL, isTrimmed, TRIMMED_LABEL } from '../pipeline/wrapped-format.ts'
import { keptText } from './kept-content.ts'
import type { Operation, OperationContext } from './operation.ts'

/** `POST /v1/compress`: a conversation with smaller tool results. Fails with `invalid_request`. */
export const compressOperation: Operation<CompressRequest, CompressAnswer> = {
  name: 'compress',
  keepsSpelling: true,
  request: compressRequest,
  answer: compressAnswer,
  lookups: ({ messages }) => refsOf(messages).map(input_ref => ({ input_ref })),
  run(asked, context) {
    const { request, inputs } = withKept(asked, context)
    const { reading } = request
    const { messages, payloads } = compressMessages(
      request,
      reading ? { ...context, reading } : context,
    )
    const rewritten = payloads.flatMap(payload => payload.rewritten ?? [])
    const before = payloads.reduce((sum, { tokens }) => sum + tokens, 0)
    const after = tokensAfter(payloads)
    return {
      answer: {
        messages,
        tokens_before: before,
        tokens_after: after,
        tokens_saved: Math.max(0, before - after),
        compression_ratio: before === 0 ? 1 : after / before,
        transforms_applied: transformsOf(payloads),
        ...(inputs && { inputs }),
        ccr_hashes: distinct(rewritten.flatMap(({ answer }) => answer.elided.map(e => e.hash))),
      },
      reports: reportsOn(request.messages, payloads),
      keep: rewritten.flatMap(({ keep = [] }) => keep),
    }
  },
}

/** Texts of one conversation that may be kept inputs. */
const MAX_INPUTS = 1_000
/** Characters of these texts, each use counted: about what a conversation may have that is sent. */
const MAX_INPUT_CHARS = 16 * 1024 * 1024

/** A lookup for each use, so that each takes room. */
function refsOf(messages: readonly unknown[]): readonly string[] {
  const refs = inputRefsIn(messages)
  if (refs.length <= MAX_INPUTS) return refs
  throw new AppError('invalid_request', `messages: at most ${MAX_INPUTS} kept inputs`)
}

/**
 * The request with the texts of kept inputs. They count like texts that were sent, since a prompt
 * needs them in any case.
 */
function withKept(request: CompressRequest, { resolutions }: OperationContext) {
  const refs = refsOf(request.messages)
  if (refs.length === 0) return { request }
  const texts = new Map<string, string>()
  for (const [i, ref] of refs.entries()) {
    if (!texts.has(ref)) texts.set(ref, keptText(resolutions?.[i] ?? null))
  }
  const length = refs.reduce((sum, ref) => sum + (texts.get(ref) as string).length, 0)
  if (length > MAX_INPUT_CHARS) {
    const detail = `messages: kept inputs have ${length} characters, each use counted`
    throw new AppError('payload_too_large', `${detail}; at most ${MAX_INPUT_CHARS} may be used`)
  }
  const messages = [...withInputs(request.messages, ref => texts.get(ref) as string)]
  return { request: { ...request, messages }, inputs: { kept: texts.size, uses: refs.length } }
}
/** Telemetry and the ledger have tool results that are new in the conversation. */
function reportsOn(messages: readonly unknown[], payloads: readonly Payload[]): Report[] {
  const firstNew = payloads.length - countNewTexts(messages)
  let opening: string | undefined
  const named = (row: NonNullable<Report['row']>) => () => {
    opening ??= openingOf(messages)
    return { ...row(), conversation: { kind: 'opening' as const, name: opening } }
  }
  return payloads.flatMap(({ source, rewritten }, index) =>
    (rewritten?.reports ?? []).map(({ row, host_blocks, ...report }) => {
      const isNew = index >= firstNew && source.from === 'tool'
      return {
        ...report,
        op: 'compress',
        ...(isNew && host_blocks !== undefined ? { host_blocks } : {}),
        ...(row !== undefined && { row: isNew ? named(row) : row }),
        ...(!isNew && { only: 'metrics' as const }),
      }
    }),
  )
}

/** The formats of the texts that changed, and whether parts were left out. */
function transformsOf(payloads: readonly Payload[]): string[] {
  return distinct(
    payloads.flatMap(({ source, rewritten }) => {
      if (rewritten === null || rewritten.answer.content === source.text) return []
      const { format } = rewritten.answer
      const bare = bareFormat(format)
      return [
        ...(isTrimmed(format) ? [TRIMMED_LABEL] : []),
        ...(rewritten.answer.look_alikes === undefined ? [] : [ESCAPED_LABEL]),
        ...(bare === PASSTHROUGH ? [] : [bare]),
      ]
    }),
  )
}

/** Each name once, at its first place. */
function distinct(names: readonly string[]): string[] {
  return [...new Set(names)]
}

/** The member of a text part that names a kept input in place of its text. */
const REF = 'input_ref'

/** The kept inputs that texts of messages are, one for each use, in their order. */
function inputRefsIn(messages: readonly unknown[]): readonly string[] {
  const refs: string[] = []
  withInputs(messages, ref => {
    refs.push(ref)
    return ''
  })
  return refs
}

/**
 * The messages with the texts of kept inputs. A text part may have an `input_ref` and no `text`,
 * also in the content of a `tool_result`. Everything else stays the very same.
 * @param textOf the text of an input
 */
function withInputs(
  messages: readonly unknown[],
  textOf: (ref: string) => string,
): readonly unknown[] {
  const inContent = (holder: unknown): unknown => {
    if (!isFields(holder) || !Array.isArray(holder['content'])) return holder
    const before: readonly unknown[] = holder['content']
    const parts = before.map(part => (isReferring(part) ? filled(part, textOf) : inContent(part)))
    return parts.every((part, i) => part === before[i]) ? holder : { ...holder, content: parts }
  }
  return messages.map(inContent)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isReferring(part: unknown): part is Fields {
  return (
    isFields(part) && part['type'] === 'text' && typeof part[REF] === 'string' && !('text' in part)
  )
}

/** The text stands where the reference stood. */
function filled(part: Fields, textOf: (ref: string) => string): Fields {
  const members = Object.entries(part).map(([key, value]) =>
    key === REF ? ['text', textOf(String(value))] : [key, value],
  )
  return Object.fromEntries(members) as Fields
}
