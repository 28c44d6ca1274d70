import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../core/json/bytes/json-tokens.ts'
import { jsonBytes } from '../json-rpc.ts'
import { member, replaced } from '../members.ts'

/** An empty result is short. */
const MAX_EMPTY_BYTES = 1_024

/** An error, since clients expect the structured value of a call that was made. */
export function refusalResult(text: string): JsonBytes {
  return jsonBytes({ content: [{ type: 'text', text }], isError: true })
}

/** Whether a result says that there is nothing. Errors say something. */
export function isEmpty(result: JsonBytes): boolean {
  if (result.length > MAX_EMPTY_BYTES) return false
  const { content, structuredContent, isError } = JSON.parse(result.toString()) as {
    readonly content?: unknown
    readonly structuredContent?: unknown
    readonly isError?: unknown
  }
  if (isError === true || !Array.isArray(content)) return false
  if (structuredContent !== undefined) return isEmptyResult(JSON.stringify(structuredContent))
  return content.every(block => block?.type === 'text' && isEmptyResult(String(block.text)))
}

/** The result with one more text for the model. @returns the same bytes if it has no content */
export function withNotes(result: JsonBytes, notes: readonly string[]): JsonBytes {
  if (notes.length === 0) return result
  const content = member(result, 'content')
  if (content === undefined || content === null || content.at(-1) !== CLOSE_BRACKET) return result
  const isEmptyList = skipSpace(content, 1) === content.length - 1
  const block = jsonBytes({ type: 'text', text: notes.join('\n') })
  const end = content.byteOffset - result.byteOffset + content.length - 1
  return replaced(result, end, end, Buffer.from(isEmptyList ? '' : ','), block)
}

const CLOSE_BRACKET = 0x5d

/** Longest text that is looked at; longer ones say something. */
const MAX_EMPTY_LENGTH = 200
const EMPTY_TEXTS = new Set(['', '[]', '{}', 'null', '""'])
/** `No files found`, `0 results`. */
const NOTHING_FOUND = /^(?:no|0) [a-z -]*\b(?:found|results?|matches|items)\b\.?$/
/** JSON whose only list is empty: `{"results":[],"total":0}`. */
const EMPTY_LIST = /^\{"[^"{}[\]]*":\[\](?:,"[^"{}[\]]*":(?:0|null|false|""))*\}$/

/** Whether a result says that there is nothing: an empty text, list or object, or words for it. */
export function isEmptyResult(text: string): boolean {
  if (text.length > MAX_EMPTY_LENGTH) return false
  const short = text.trim().toLowerCase()
  const dense = short.replace(/\s/g, '')
  return EMPTY_TEXTS.has(dense) || NOTHING_FOUND.test(short) || EMPTY_LIST.test(dense)
}
