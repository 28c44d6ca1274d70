import { AppError } from '../../base/errors.ts'
import { decodedTooLong, notDecodable } from '../../formats/not-decodable.ts'
import { parseHint } from '../../hints/hint-line.ts'
import { equalValues, type Value } from '../../json/value.ts'
import { jsonLength, writeJson } from '../../json/write-json.ts'
import { applyChanges } from './apply-changes.ts'
import { readChanges } from './change-text.ts'

/** A result of the same call as an earlier whole one, as what changed since. */
export const CHANGES_FORMAT = 'changes@1'

/** The gate: the text as it is sent, and the earlier one, must give the very value again. */
export function isOfChanges(written: string, earlier: string, value: Value): boolean {
  try {
    return equalValues(
      valueIn(written, () => earlier),
      value,
    )
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/** @throws AppError `not_decodable` */
function valueIn(content: string, resolve: (ref: string) => string | undefined): Value {
  const ref = refOfChanges(content)
  const changes = ref === undefined ? null : readChanges(content.slice(content.indexOf('\n') + 1))
  if (ref === undefined || changes === null) throw notDecodable(content, 0, 'changes expected')
  const earlier = resolve(ref)
  if (earlier === undefined) throw notDecodable(content, 0, `no earlier result ${ref}`)
  return applyChanges(earlier, changes)
}

/** The id of the earlier result that such a text begins with; `undefined` if it does not. */
export function refOfChanges(content: string): string | undefined {
  const end = content.indexOf('\n')
  const hint = end === -1 ? null : parseHint(content.slice(0, end))
  return hint?.family === 'near_reference' && hint.changes.length === 0 ? hint.ref : undefined
}

/**
 * The JSON that such a text represents, compact.
 * @throws AppError `not_decodable`, `payload_too_large`
 */
export function decodeChanges(
  content: string,
  resolve: (ref: string) => string | undefined,
  maxChars: number,
): string {
  const value = valueIn(content, resolve)
  if (jsonLength(value, maxChars) > maxChars) throw decodedTooLong(maxChars)
  return writeJson(value)
}
