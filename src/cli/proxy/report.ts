import { table } from '../../console/table.ts'
import type { CheckedRequest, CheckedText } from './check-request.ts'

const HEADER = [
  'message',
  'block',
  'part',
  'tool',
  'call',
  'before',
  'after',
  'format',
  'cached',
  'result',
]

/** A line for each text of a tool result, and the sums; with `show`, the new texts after them. */
export function reportText(checked: CheckedRequest, show: boolean): string {
  const { texts, program_results } = checked
  const forPrograms = program_results.map(({ message, block, tool, call_id }) => {
    const [name, call] = [inCell(tool), inCell(call_id)]
    return [message, block, '', name, call, '', '', '–', '', 'kept: program result']
  })
  const rows = texts.map(text => [
    text.message,
    text.block,
    text.part,
    inCell(text.tool),
    inCell(text.call_id),
    text.tokens_before,
    text.tokens_after,
    text.format ?? '–',
    text.cached_prefix ? 'yes' : 'no',
    resultOf(text),
  ])
  const shown = show ? texts.filter(({ kept }) => kept === null).map(newText) : []
  const all = [...rows, ...forPrograms]
  const listed = all.length === 0 ? [] : [table(HEADER, all), '']
  return `${[...listed, sumsOf(checked), ...shown].join('\n')}\n`
}

function resultOf({ kept, is_error }: CheckedText): string {
  const result = kept === null ? 'rewritten' : `kept: ${kept}`
  return is_error ? `${result} (error)` : result
}

function sumsOf(checked: CheckedRequest): string {
  const { texts, tokenizer, exact, tokens_saved, bytes_before, bytes_after } = checked
  const rewritten = texts.filter(({ kept }) => kept === null).length
  if (checked.unchanged) {
    return `${textsOf(texts.length)} of tool results, nothing is rewritten: forwarded byte for byte.`
  }
  const counted = exact ? tokenizer : `${tokenizer}, estimated`
  return (
    `${rewritten} of ${textsOf(texts.length)} rewritten, ${grouped(tokens_saved)} tokens saved (${counted}); ` +
    `${grouped(bytes_before)} → ${grouped(bytes_after)} bytes, all others as they came.`
  )
}

function newText({ message, block, part, format, text }: CheckedText): string {
  return `\n--- message ${message}, block ${block}, part ${part}: ${format ?? 'rewritten'}\n${text}`
}

function textsOf(count: number): string {
  return `${count} text${count === 1 ? '' : 's'}`
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** A text of a client, on one line and without control characters. */
function inCell(word: string | null): string {
  return word === null ? '–' : word.replace(/\p{Cc}/gu, '·')
}
