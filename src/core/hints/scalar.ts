import { NumberLiteral } from '../json/value.ts'
import { quote, writeText } from './text-slot.ts'

/** A JSON scalar; a number whose spelling a double cannot keep is a `NumberLiteral`. */
export type Scalar = null | boolean | number | NumberLiteral | string

/** What means something else than the string of these characters. */
const LITERAL = /^(?:-?\d.*|true|false|null)$/s

/**
 * A scalar: strings bare where they are harmless and no JSON literal, everything else as in JSON.
 */
export function writeScalar(scalar: Scalar): string {
  if (typeof scalar === 'string') return LITERAL.test(scalar) ? quote(scalar) : writeText(scalar)
  return scalar instanceof NumberLiteral ? scalar.text : String(scalar)
}
