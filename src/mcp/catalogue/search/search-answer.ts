import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { QUOTE } from '../../../core/json/char-codes.ts'
import { jsonBytes } from '../../json-rpc.ts'
import { member } from '../../members.ts'
import type { PublicEntry } from '../catalogue.ts'
import { sentDefinition } from './sent-definition.ts'

/** Definitions of one answer, in bytes; the first one is always whole. */
const MOST_BYTES = 64 * 1024
/** Tools after those, by name and first sentence. */
const MORE = 10
const MOST_SENTENCE = 160

export interface Answer {
  readonly whole: readonly PublicEntry[]
  readonly others: readonly PublicEntry[]
  /** Which of our tools calls a tool; `null`: it is in the list. */
  callerOf(tool: PublicEntry): string | null
  /** What comes first and last, in words. */
  readonly head?: string
  readonly tail?: string
}

/** The result of a search: whole definitions, then names with first sentences. */
export function searchResult({ whole, others, callerOf, head, tail }: Answer): JsonBytes {
  const shown: PublicEntry[] = []
  const texts: string[] = []
  let bytes = 0
  for (const tool of whole) {
    const text = sentDefinition(tool).toString()
    bytes += text.length
    if (shown.length > 0 && bytes > MOST_BYTES) break
    shown.push(tool)
    texts.push(text)
  }
  const rest = [...whole.slice(shown.length), ...others.slice(0, MORE)]
  const lines = rest.map(tool => {
    const caller = callerOf(tool)
    return `${tool.publicKey} (${caller ?? 'listed'}): ${firstSentence(tool)}`
  })
  const notes = [
    ...callLines(shown, callerOf),
    ...(lines.length === 0 ? [] : ['Others, whose definitions you get by name:', ...lines]),
    ...(tail === undefined ? [] : [tail]),
  ]
  const blocks = [
    ...(head === undefined ? [] : [head]),
    // Each in a block of its own: a table of several schemas is hard to read.
    ...texts,
    ...(notes.length === 0 ? [] : [notes.join('\n')]),
  ]
  return jsonBytes({ content: blocks.map(text => ({ type: 'text', text })) })
}

/** A line for each way to call what is shown. */
function callLines(tools: readonly PublicEntry[], callerOf: Answer['callerOf']): string[] {
  const byCaller = Map.groupBy(tools, callerOf)
  return [...byCaller].map(([caller, own]) => {
    const names = own.map(({ publicKey }) => publicKey).join(', ')
    return caller === null ? `Listed, call by name: ${names}` : `Call with ${caller}: ${names}`
  })
}

function firstSentence({ raw }: PublicEntry): string {
  const description = member(raw, 'description')
  const described = description?.[0] === QUOTE ? (JSON.parse(description.toString()) as string) : ''
  const text = described.slice(0, 1_000).trim()
  const [sentence = ''] = /^.*?(?:[.!?](?=\s|$)|[。！？]|\n|$)/su.exec(text) ?? []
  const whole = sentence.trim()
  return whole.length > MOST_SENTENCE ? `${whole.slice(0, MOST_SENTENCE)}…` : whole
}
