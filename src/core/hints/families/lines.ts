import type { LinesHint } from '../hint.ts'
import { readCallAfter, validEarlier, writeCall } from './earlier-result.ts'
import { areCounts, type Family } from './family.ts'

const REDEEM = ', GET /v1/retrieve/{ref}?lines='

/** `> [ref 9f2c41aa lines 40-80 of Read(hint.ts), numbers +3]` */
export const lines: Family<LinesHint> = {
  valid: hint =>
    validEarlier(hint) &&
    areCounts(1, hint.first, hint.last) &&
    hint.first <= hint.last &&
    (hint.shift === undefined || (Number.isSafeInteger(hint.shift) && hint.shift !== 0)),

  write({ ref, call, first, last, shift }, verbosity) {
    const verbose = verbosity === 'verbose'
    const named =
      call === undefined || verbosity === 'terse'
        ? ''
        : (verbose ? ', identical to ' : ' of ') + writeCall(call, verbosity)
    const numbers = shift === undefined ? '' : `, numbers ${shift > 0 ? '+' : ''}${shift}`
    const redeem = verbose ? `${REDEEM}${first}-${last}` : ''
    return `ref ${ref} lines ${first}-${last}${named}${numbers}${redeem}`
  },

  read(reader) {
    const ref = reader.skip('ref ') ? reader.hex() : undefined
    const first = reader.skip(' lines ') ? reader.count() : undefined
    const last = reader.skip('-') ? reader.count() : undefined
    if (ref === undefined || first === undefined || last === undefined) return null
    const call = readCallAfter(reader, ', identical to ', ' of ')
    if (call === null) return null
    let shift: number | undefined
    if (reader.skip(', numbers ')) {
      const sign = reader.skip('-') ? -1 : 1
      reader.skip('+')
      shift = sign * (reader.count() ?? Number.NaN)
    }
    reader.skip(`${REDEEM}${first}-${last}`)
    return {
      family: 'lines',
      ref,
      ...(call === undefined ? {} : { call }),
      first,
      last,
      ...(shift === undefined ? {} : { shift }),
    }
  },
}
