/**
 * The families that point to an earlier result. They have in common its id, and the call it came
 * from.
 */
import type {
  Change,
  EarlierCall,
  LinesHint,
  NearReferenceHint,
  ReferenceHint,
  Verbosity,
} from '../hint.ts'
import type { HintReader } from '../reader.ts'
import { writePlace, writeScalar, writeShown, writeText } from '../text-slot.ts'
import { areCounts, type Family, SHOWN_CHARS } from './family.ts'

const REF = /^[0-9a-f]{8,64}$/
const CALLS_AGO = / [1-9]\d{0,15} calls? ago/y
const PART_OF = /part [1-9]\d{0,15} of /y

/** Fields of every hint that points to an earlier result. */
export interface ToEarlier {
  readonly ref: string
  readonly call?: EarlierCall
}

function validEarlier({ ref, call }: ToEarlier): boolean {
  if (!REF.test(ref) || call === undefined) return REF.test(ref)
  return call.tool !== '' && areCounts(1, call.calls_ago, call.part)
}

/**
 * `Read(hint.ts)`, `Read(hint.ts) 3 calls ago`, `Read 3 calls ago` or `part 2 of exec 3 calls ago`
 */
function writeCall(call: EarlierCall, verbosity: Verbosity): string {
  const { argument, calls_ago: ago, part } = call
  const partOf = part === undefined ? '' : `part ${part} of `
  const shown = argument === undefined ? '' : writeShown(argument, SHOWN_CHARS[verbosity])
  const brackets = argument === undefined && ago !== undefined ? '' : `(${shown})`
  const distance = ago === undefined ? '' : ` ${ago} call${ago === 1 ? '' : 's'} ago`
  return partOf + writeText(call.tool) + brackets + distance
}

/** Reads what `writeCall` wrote. */
function readCall(reader: HintReader): EarlierCall | null {
  const partOf = reader.match(PART_OF)
  const tool = reader.text()
  if (tool === undefined) return null
  const argument = reader.skip('(') ? reader.shown() : undefined
  reader.skip(')')
  const distance = reader.match(CALLS_AGO)
  return {
    tool,
    ...(argument === undefined ? {} : { argument }),
    ...(distance === undefined ? {} : { calls_ago: Number(distance.split(' ')[1]) }),
    ...(partOf === undefined ? {} : { part: Number(partOf.split(' ')[1]) }),
  }
}

/**
 * The call after one of these introductions. Returns `undefined` if there is none, and `null` if it
 * cannot be read.
 */
function readCallAfter(
  reader: HintReader,
  ...introductions: readonly string[]
): EarlierCall | null | undefined {
  return introductions.some(words => reader.skip(words)) ? readCall(reader) : undefined
}

const RETRIEVE_RESULT = ', GET /v1/retrieve/{ref}'

/** `> [ref 9f2c41aa Read(hint.ts)]` */
export const reference: Family<ReferenceHint> = {
  valid: validEarlier,

  write({ ref, call }, verbosity) {
    if (verbosity === 'terse') return `ref ${ref}`
    if (verbosity === 'verbose') {
      const to = call === undefined ? '' : ` to ${writeCall(call, verbosity)}`
      return `ref ${ref}, byte-identical${to}${RETRIEVE_RESULT}`
    }
    return `ref ${ref}${call === undefined ? ', byte-identical' : ` ${writeCall(call, verbosity)}`}`
  },

  read(reader) {
    const ref = reader.skip('ref ') ? reader.hex() : undefined
    if (ref === undefined) return null
    reader.skip(', byte-identical')
    const call = readCallAfter(reader, ' to ', ' ')
    if (call === null) return null
    reader.skip(RETRIEVE_RESULT)
    return { family: 'reference', ref, ...(call === undefined ? {} : { call }) }
  },
}

const ARROW = '→'
const RETRIEVE_BASE = '; GET /v1/retrieve/{ref}'

const BELOW = ', except:'

/**
 * `> [near-ref 9f2c41aa get_job(7), status: pending→success]`, or without changes, which are then
 * in the lines below, `> [near-ref 9f2c41aa get_job(7), except:]`
 */
export const nearReference: Family<NearReferenceHint> = {
  valid: validEarlier,

  write({ ref, call, changes }, verbosity) {
    const like = verbosity === 'verbose' ? ', identical to ' : ' '
    const named =
      call === undefined || verbosity === 'terse' ? '' : like + writeCall(call, verbosity)
    const base = verbosity === 'verbose' ? RETRIEVE_BASE : ''
    if (changes.length === 0) return `near-ref ${ref}${named}${base}${BELOW}`
    const listed = changes.map(writeChange).join(', ')
    return `near-ref ${ref}${named}, ${verbosity === 'verbose' ? `except ${listed}${base}` : listed}`
  },

  read(reader) {
    const ref = reader.skip('near-ref ') ? reader.hex() : undefined
    if (ref === undefined) return null
    const call = readCallAfter(reader, ', identical to ', ' ')
    if (call === null) return null
    reader.skip(RETRIEVE_BASE)
    if (reader.skip(BELOW)) {
      return { family: 'near_reference', ref, ...(call === undefined ? {} : { call }), changes: [] }
    }
    if (!reader.skip(', ')) return null
    reader.skip('except ')
    const changes: Change[] = []
    do {
      const change = readChange(reader)
      if (change === null) return null
      changes.push(change)
    } while (reader.skip(', '))
    reader.skip(RETRIEVE_BASE)
    return { family: 'near_reference', ref, ...(call === undefined ? {} : { call }), changes }
  },
}

function writeChange({ path, from, to }: Change): string {
  return `${writePlace(path)}: ${writeScalar(from)}${ARROW}${writeScalar(to)}`
}

function readChange(reader: HintReader): Change | null {
  const path = reader.place()
  if (path === undefined || !reader.skip(': ')) return null
  const from = reader.scalar()
  if (from === undefined || !reader.skip(ARROW)) return null
  const to = reader.scalar()
  return to === undefined ? null : { path, from, to }
}

const RETRIEVE_LINES = ', GET /v1/retrieve/{ref}?lines='

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
    const retrieval = verbose ? `${RETRIEVE_LINES}${first}-${last}` : ''
    return `ref ${ref} lines ${first}-${last}${named}${numbers}${retrieval}`
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
    reader.skip(`${RETRIEVE_LINES}${first}-${last}`)
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
