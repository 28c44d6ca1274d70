import type { ReferenceHint } from '../hint.ts'
import { readCallAfter, validEarlier, writeCall } from './earlier-result.ts'
import type { Family } from './family.ts'

const REDEEM = ', GET /v1/retrieve/{ref}'

/** `> [ref 9f2c41aa Read(hint.ts)]` */
export const reference: Family<ReferenceHint> = {
  valid: validEarlier,

  write({ ref, call }, verbosity) {
    if (verbosity === 'terse') return `ref ${ref}`
    if (verbosity === 'verbose') {
      const to = call === undefined ? '' : ` to ${writeCall(call, verbosity)}`
      return `ref ${ref}, byte-identical${to}${REDEEM}`
    }
    return `ref ${ref}${call === undefined ? ', byte-identical' : ` ${writeCall(call, verbosity)}`}`
  },

  read(reader) {
    const ref = reader.skip('ref ') ? reader.hex() : undefined
    if (ref === undefined) return null
    reader.skip(', byte-identical')
    const call = readCallAfter(reader, ' to ', ' ')
    if (call === null) return null
    reader.skip(REDEEM)
    return { family: 'reference', ref, ...(call === undefined ? {} : { call }) }
  },
}
