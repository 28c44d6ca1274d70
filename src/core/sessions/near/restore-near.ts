import { AppError } from '../../base/errors.ts'
import type { Change } from '../../hints/hint.ts'
import { writeJson } from '../../json/write-json.ts'
import { createScalarScanner } from './scalar-scanner.ts'

/**
 * The text that a near reference represents: the earlier JSON with these scalars in place of the
 * old ones, all else unchanged, byte for byte. Linear.
 * @throws AppError `not_decodable` if the earlier text has no such scalar at one of the places
 */
export function restoreNear(earlier: string, changes: readonly Change[]): string {
  const pending = new Map(changes.map(change => [change.path, change]))
  /** Scalars to replace, as JSON: only their paths are computed. */
  const replaced = new Set(changes.map(({ from }) => writeJson(from)))
  const scanner = createScalarScanner(earlier)
  let out = ''
  let copied = 0
  while (pending.size > 0 && scanner.next()) {
    const token = earlier.slice(scanner.start(), scanner.end())
    if (!replaced.has(token)) continue
    const path = scanner.path()
    const change = path === null ? undefined : pending.get(path)
    if (path === null || change === undefined || writeJson(change.from) !== token) continue
    pending.delete(path)
    out += earlier.slice(copied, scanner.start()) + writeJson(change.to)
    copied = scanner.end()
  }
  if (pending.size > 0) {
    throw new AppError('not_decodable', 'the earlier result has no such value at a changed place')
  }
  return out + earlier.slice(copied)
}
