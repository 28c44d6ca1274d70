import type { AppError } from '../../base/errors.ts'
import { notDecodable } from '../../formats/not-decodable.ts'
import { decodedTooLong } from '../../formats/text/decoded-length.ts'
import { type EarlierText, openEarlierText } from './earlier-text.ts'
import { isReferenceLike, unguardLine } from './guard-line.ts'
import { gutterWriter } from './gutter-writer.ts'
import { type LineReference, readReference } from './reference-line.ts'

/**
 * The text that `encodeLines` wrote.
 * @param resolve the text of the earlier result with this ref, or `undefined` if there is none
 * @param maxChars UTF-16 code units that are written at most
 * @throws AppError `not_decodable` with the line and what is missing; `payload_too_large`
 */
export function decodeLines(
  content: string,
  resolve: (ref: string) => string | undefined,
  maxChars: number,
): string {
  const out: string[] = []
  const bodies = new Map<string, EarlierText>()
  let length = -1
  let last = ''
  let current: EarlierText | undefined
  let at = 0

  const push = (text: string) => {
    length += text.length + 1
    if (length > maxChars) throw decodedTooLong(maxChars)
    out.push(text)
  }

  const fail = (reason: string): AppError => notDecodable(content, at, reason)

  function bodyOf(ref: string): EarlierText {
    let body = bodies.get(ref)
    if (body === undefined) {
      const text = resolve(ref)
      if (text === undefined) throw fail(`no earlier result ${ref}`)
      const opened = openEarlierText(text)
      if (opened === null) throw fail(`the earlier result ${ref} has too many lines`)
      body = opened
      bodies.set(ref, body)
    }
    return body
  }

  function expand(reference: LineReference): void {
    if (reference.ref !== undefined) current = bodyOf(reference.ref)
    if (current === undefined) throw fail('the same earlier result, but none was named before')
    const from = current.find(reference.first)
    const end = current.find(reference.last) + 1
    if (from < 0 || end <= from) throw fail('the earlier result has no such lines')
    const { gutter } = reference
    if (gutter.kind === 'kept' && gutter.shift === 0) {
      push(current.slice(from, end))
      last = current.slice(end - 1, end)
      return
    }
    const write = gutterWriter(gutter, last)
    for (let line = from; line < end; line++) {
      const written = current.withGutter(line, write)
      if (written === null) throw fail('no numbers to go on from')
      last = written
      push(last)
    }
  }

  for (const line of content.split('\n')) {
    if (isReferenceLike(line)) {
      const reference = readReference(line)
      if (reference === null) throw fail('neither content nor a reference')
      expand(reference)
    } else {
      last = unguardLine(line)
      push(last)
    }
    at += line.length + 1
  }
  return out.join('\n')
}
