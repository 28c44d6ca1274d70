import { NumberLiteral } from '../json/value.ts'
import { quote, writeText } from './text-slot.ts'

/** A JSON scalar; a number whose spelling a double cannot keep is a `NumberLiteral`. */
export type Scalar = null | boolean | number | NumberLiteral | string

/** Text that represents something else than the string of these characters. */
const LITERAL = /^(?:-?\d.*|true|false|null)$/s

/**
 * Writes a scalar. Strings are bare if they are harmless and no JSON literal; everything else is as
 * in JSON.
 */
export function writeScalar(scalar: Scalar): string {
  if (typeof scalar === 'string') return LITERAL.test(scalar) ? quote(scalar) : writeText(scalar)
  return scalar instanceof NumberLiteral ? scalar.text : String(scalar)
}
