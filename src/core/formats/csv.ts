import { decodeCsv } from './csv-decode.ts'
import { encodeCsv } from './csv-encode.ts'
import type { Notation } from './notation.ts'

/** A table of an array of objects: keys once in the header, a row an object. */
export const csv: Notation = {
  id: 'csv',
  version: 1,
  accepts: (_, { shape }) => shape === 'array_of_objects',
  encode: encodeCsv,
  decode: decodeCsv,
}
