import { AppError } from '../../errors.ts'
import { decodeLines } from '../dedup/lines/decode-lines.ts'
import { restoreNear } from '../dedup/near/restore-near.ts'
import type { Hint, HintFamily } from '../hints/hint.ts'
import { parseHint } from '../hints/parse-hint.ts'
import { decodeContent } from '../pipeline/decode.ts'
import { withoutNotes } from '../pipeline/wrapped-format.ts'
import type { DecodeAnswer } from '../requests/decode.ts'

/** Formats of answers that stand on earlier results of their session. */
export const SESSION_FORMATS = {
  reference: 'ref@1',
  near_reference: 'near@1',
  lines: 'lines@1',
} as const satisfies { readonly [F in HintFamily]?: string }

/** The text of the one earlier result with this reference, or `undefined`. */
export type Resolve = (ref: string) => string | undefined

/**
 * What an answer's content stands for, with the earlier results that it may refer to.
 * @param maxChars UTF-16 code units that are written at most
 * @throws AppError `not_decodable`, `payload_too_large`
 */
export function decodeAnswer(
  answer: { readonly content: string; readonly format: string },
  resolve: Resolve,
  maxChars: number,
): DecodeAnswer {
  const { content, format } = withoutNotes(answer.content, answer.format)
  switch (format) {
    case SESSION_FORMATS.reference:
      return asText(earlier(onlyHint(content, 'reference').ref, resolve))
    case SESSION_FORMATS.near_reference: {
      const { ref, changes } = onlyHint(content, 'near_reference')
      return asText(restoreNear(earlier(ref, resolve), changes))
    }
    case SESSION_FORMATS.lines:
      return asText(decodeLines(content, resolve, maxChars))
    default:
      return decodeContent(content, format, maxChars)
  }
}

function onlyHint<F extends HintFamily>(line: string, family: F): Extract<Hint, { family: F }> {
  const hint = parseHint(line)
  if (hint?.family === family) return hint as Extract<Hint, { family: F }>
  throw new AppError('not_decodable', `the content is no ${family} hint`)
}

function earlier(ref: string, resolve: Resolve): string {
  const text = resolve(ref)
  if (text === undefined) throw new AppError('not_decodable', `no earlier result ${ref}`)
  return text
}

function asText(content: string): DecodeAnswer {
  return { content, media_type: 'text/plain' }
}
