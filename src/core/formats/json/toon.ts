import { decode, encode } from '@toon-format/toon'
import { parseJson } from '../../json/parse-json.ts'
import { equalValues, type Value } from '../../json/value.ts'
import { writeJson } from '../../json/write-json.ts'
import { notDecodable } from '../not-decodable.ts'
import type { Extent } from '../work.ts'
import type { JsonFormat } from './json-format.ts'

/**
 * TOON of its own library, for callers that ask for it. It declines what the library does not give
 * back: other spellings of numbers, doubled keys.
 */
export const toon: JsonFormat = {
  id: 'toon',
  version: 1,
  onlyNamed: true,
  accepts: (_, { depth }) => (depth ?? 0) <= MAX_DEPTH,
  steps: ({ chars, members }: Extent) => chars * CHAR_STEPS + members * MEMBER_STEPS,
  encode: encodeToon,
  decode: decodeToon,
}

/** The library recurses. */
const MAX_DEPTH = 100
const CHAR_STEPS = 60
const MEMBER_STEPS = 1_000

function encodeToon(value: Value): string | null {
  try {
    const text = encode(JSON.parse(writeJson(value)))
    return equalValues(decodeToon(text), value) ? text : null
  } catch {
    // The library has no error of its own for what it cannot write.
    return null
  }
}

function decodeToon(text: string): Value {
  const parsed = parseJson(writtenAgain(text))
  if (!parsed.ok) throw notDecodable(text, 0, 'no TOON of a JSON value')
  return parsed.value
}

function writtenAgain(text: string): string {
  try {
    return JSON.stringify(decode(text))
  } catch {
    throw notDecodable(text, 0, 'TOON expected')
  }
}
