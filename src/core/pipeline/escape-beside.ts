import { escapeLookAlikes, unescapeLookAlikes } from '../hints/escape.ts'
import { OPENING } from '../hints/render-hint.ts'
import { readReference } from '../sessions/lines/reference-line.ts'
import type { Referral } from '../sessions/turn/refer-to-earlier.ts'
import type { Choice } from './choose.ts'
import { escapedFormat } from './wrapped-format.ts'

/** New lines with references between them, all that looks like one of these escaped. */
export type BesideReferences = Pick<Choice, 'content' | 'format' | 'lookAlikes'>

/**
 * Escapes what looks like a hint in the new lines of a text whose references stay as they are.
 * @param content in which a line that reads as a reference is one; see `hasOnlyReferences`
 */
export function escapeBeside(content: string, format: string): BesideReferences {
  const escaped = escapeLookAlikes(content, 'all', at => {
    return (at === 0 || content[at - 1] === '\n') && isReference(lineAt(content, at))
  })
  const { count: lookAlikes } = escaped
  // The gate of escapes: what cannot be undone is not done.
  if (lookAlikes === 0 || unescapeLookAlikes(escaped.content, 'all') !== content) {
    return { content, format }
  }
  return { content: escaped.content, format: escapedFormat(format, 'all'), lookAlikes }
}

/**
 * Whether the lines of a text that read as references are those of the referral and no others. A
 * format that takes the numbers off lines may uncover what follows them.
 */
export function hasOnlyReferences(content: string, { hints }: Referral): boolean {
  const found = content.split('\n').filter(isReference)
  return found.length === hints.length && found.every((line, at) => line === hints[at]!.text)
}

function isReference(line: string): boolean {
  return line.startsWith(OPENING) && readReference(line) !== null
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  return text.slice(start, end === -1 ? text.length : end)
}
