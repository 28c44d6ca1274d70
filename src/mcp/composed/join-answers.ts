import {
  items,
  itemsOf,
  type JsonBytes,
  memberOf,
  members,
  parseAt,
  RANGE,
} from '../../core/json/bytes/json-node.ts'
import { readJson } from '../../core/json/bytes/read-json.ts'
import { jsonBytes, type Outcome } from '../json-rpc.ts'

/** What one call of a composed tool gave. */
export interface StepAnswer {
  readonly label: string
  readonly outcome: Outcome
}

const RESULT = members({
  content: items(RANGE),
  structuredContent: RANGE,
  isError: RANGE,
})

/** One result of several: the blocks of each, byte for byte, after a text with its label. */
export function joinAnswers(answers: readonly StepAnswer[]): JsonBytes {
  const parts = answers.map(({ label, outcome }) => ({ label, ...readAnswer(outcome) }))
  const blocks = parts.flatMap(({ label, hasFailed, content }) => {
    const state = hasFailed ? `${label} failed:` : `${label}:`
    return [jsonBytes({ type: 'text', text: state }), ...content]
  })
  const list = blocks.flatMap((block, at) => (at === 0 ? [block] : [Buffer.from(','), block]))
  const haveAllFailed = parts.every(({ hasFailed }) => hasFailed)
  const end = haveAllFailed ? '],"isError":true}' : ']}'
  return Buffer.concat([Buffer.from('{"content":['), ...list, Buffer.from(end)])
}

interface ReadAnswer {
  readonly hasFailed: boolean
  /** Blocks as JSON. */
  readonly content: readonly JsonBytes[]
}

function readAnswer(outcome: Outcome): ReadAnswer {
  if (outcome.kind === 'error') {
    const { message } = JSON.parse(outcome.error.toString()) as { message?: unknown }
    return { hasFailed: true, content: [jsonBytes({ type: 'text', text: String(message) })] }
  }
  const bytes = outcome.result
  const limits = { maxBytes: bytes.length, maxDepth: 10_000, maxValues: 1_000_000 }
  const root = readJson(bytes, RESULT, limits) ?? undefined
  const content = memberOf(root, 'content')
  const isError = memberOf(root, 'isError')
  const blocks =
    content === undefined || content.items === null
      ? []
      : itemsOf(content).map(({ start, end }) => bytes.subarray(start, end))
  const structured = memberOf(root, 'structuredContent')
  const hasFailed = isError !== undefined && parseAt(bytes, isError) === true
  if (blocks.length > 0 || structured === undefined) return { hasFailed, content: blocks }
  const text = bytes.subarray(structured.start, structured.end).toString()
  return { hasFailed, content: [jsonBytes({ type: 'text', text })] }
}
