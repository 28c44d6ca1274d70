import { joinJson } from '../../core/json/bytes/checked-json.ts'
import { type JsonBytes, memberOf, members, RANGE } from '../../core/json/bytes/json-node.ts'
import { skipSpace } from '../../core/json/bytes/json-tokens.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { OPEN_BRACKET } from '../../core/json/char-codes.ts'
import { jsonBytes, type Outcome } from '../json-rpc.ts'
import { shortValue, textMember } from '../members.ts'

/** What one call of a composed tool gave. */
export interface StepAnswer {
  readonly label: string
  readonly outcome: Outcome
}

const RESULT = members({
  content: RANGE,
  structuredContent: RANGE,
  isError: RANGE,
})

/** One result of several: the blocks of each, byte for byte, after a text with its label. */
export function joinAnswers(answers: readonly StepAnswer[]): JsonBytes {
  const parts = answers.map(({ label, outcome }) => ({ label, ...readAnswer(outcome) }))
  const blocks = parts.flatMap(({ label, hasFailed, content }) => {
    const state = hasFailed ? `${label} failed:` : `${label}:`
    return [jsonBytes({ type: 'text', text: state }), ...(content === null ? [] : [content])]
  })
  const list = blocks.flatMap((block, at) => (at === 0 ? [block] : [Buffer.from(','), block]))
  const haveAllFailed = parts.every(({ hasFailed }) => hasFailed)
  const end = haveAllFailed ? '],"isError":true}' : ']}'
  return joinJson(Buffer.from('{"content":['), ...list, Buffer.from(end))
}

interface ReadAnswer {
  readonly hasFailed: boolean
  /** Blocks as JSON, with commas between them; `null` if there is none. */
  readonly content: JsonBytes | null
}

function readAnswer(outcome: Outcome): ReadAnswer {
  if (outcome.kind === 'error') {
    const text = textMember(outcome.error, 'message') ?? 'an error without a message'
    return { hasFailed: true, content: jsonBytes({ type: 'text', text }) }
  }
  const bytes = outcome.result
  const limits = { maxBytes: bytes.length, maxDepth: 10_000, maxValues: 8 }
  const root = readJson(bytes, RESULT, limits) ?? undefined
  const content = memberOf(root, 'content')
  const isError = memberOf(root, 'isError')
  const blocks = content === undefined ? null : insideOf(bytes.subarray(content.start, content.end))
  const structured = memberOf(root, 'structuredContent')
  const hasFailed =
    isError !== undefined && shortValue(bytes.subarray(isError.start, isError.end)) === true
  if (blocks !== null || structured === undefined) return { hasFailed, content: blocks }
  const text = bytes.subarray(structured.start, structured.end).toString()
  return { hasFailed, content: jsonBytes({ type: 'text', text }) }
}

/** What is between the brackets of an array; `null` if it is none, or empty. */
function insideOf(array: JsonBytes): JsonBytes | null {
  const isEmpty = array[0] !== OPEN_BRACKET || skipSpace(array, 1) === array.length - 1
  return isEmpty ? null : array.subarray(1, -1)
}
