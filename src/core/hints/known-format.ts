import { findNotation } from '../formats/json/registry.ts'
import { findTextNotation } from '../formats/text/registry.ts'

/** Whether `POST /v1/decode` can decode this `format`. */
export function isKnownFormat(format: string): boolean {
  return findNotation(format) !== undefined || findTextNotation(format) !== undefined
}
