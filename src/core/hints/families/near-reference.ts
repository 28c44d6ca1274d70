import type { Change, NearReferenceHint } from '../hint.ts'
import type { Reader } from '../reader.ts'
import { writeScalar } from '../scalar.ts'
import { writePlace } from '../text-slot.ts'
import { readCallAfter, validEarlier, writeCall } from './earlier-result.ts'
import type { Family } from './family.ts'

const ARROW = '→'
const REDEEM = '; GET /v1/retrieve/{ref}'

/** `> [near-ref 9f2c41aa get_job(7), status: pending→success]` */
export const nearReference: Family<NearReferenceHint> = {
  valid: hint => validEarlier(hint) && hint.changes.length > 0,

  write({ ref, call, changes }, verbosity) {
    const like = verbosity === 'verbose' ? ', identical to ' : ' '
    const named =
      call === undefined || verbosity === 'terse' ? '' : like + writeCall(call, verbosity)
    const listed = changes.map(writeChange).join(', ')
    return `near-ref ${ref}${named}, ${verbosity === 'verbose' ? `except ${listed}${REDEEM}` : listed}`
  },

  read(reader) {
    const ref = reader.skip('near-ref ') ? reader.hex() : undefined
    if (ref === undefined) return null
    const call = readCallAfter(reader, ', identical to ', ' ')
    if (call === null || !reader.skip(', ')) return null
    reader.skip('except ')
    const changes: Change[] = []
    do {
      const change = readChange(reader)
      if (change === null) return null
      changes.push(change)
    } while (reader.skip(', '))
    reader.skip(REDEEM)
    return { family: 'near_reference', ref, ...(call === undefined ? {} : { call }), changes }
  },
}

function writeChange({ path, from, to }: Change): string {
  return `${writePlace(path)}: ${writeScalar(from)}${ARROW}${writeScalar(to)}`
}

function readChange(reader: Reader): Change | null {
  const path = reader.place()
  if (path === undefined || !reader.skip(': ')) return null
  const from = reader.scalar()
  if (from === undefined || !reader.skip(ARROW)) return null
  const to = reader.scalar()
  return to === undefined ? null : { path, from, to }
}
