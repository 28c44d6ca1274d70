import { BACKTICK, LINE_FEED } from '../../../json/char-codes.ts'
import type { Reader } from './reader.ts'
import { LONGEST_FENCE } from './syntax.ts'

/**
 * The lines between the fence at the place and the next line that is the same fence; moves after
 * it.
 */
export function readFence(reader: Reader): string {
  const { text } = reader
  const start = reader.at
  while (reader.skip(BACKTICK));
  if (reader.at - start > LONGEST_FENCE) throw reader.error('a shorter fence expected', start)
  const fence = `\n${text.slice(start, reader.at)}`
  reader.newLine()
  const from = reader.at
  for (let at = text.indexOf(fence, from - 1); at !== -1; at = text.indexOf(fence, at + 1)) {
    const end = at + fence.length
    if (end < text.length && text.charCodeAt(end) !== LINE_FEED) continue
    reader.at = end
    return text.slice(from, Math.max(at, from))
  }
  throw reader.error('a fence that is not closed', start)
}
