import { decodeCsv } from './csv-decode.ts'
import { encodeCsv } from './csv-encode.ts'
import type { Notation } from './json-format.ts'

/** What a character and a member take. */
const CHAR_STEPS = 15
const MEMBER_STEPS = 250

/** A table of an array of objects: keys once in the header, a row an object. */
export const csv: Notation = {
  id: 'csv',
  version: 1,
  accepts: (_, { shape }) => shape === 'array_of_objects',
  steps: ({ chars, members }) => chars * CHAR_STEPS + members * MEMBER_STEPS,
  encode: encodeCsv,
  decode: decodeCsv,
}
