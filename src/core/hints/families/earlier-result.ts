/**
 * What the families have in common that point to an earlier result: its id, and the call it came
 * from.
 */
import type { EarlierCall, Verbosity } from '../hint.ts'
import type { Reader } from '../reader.ts'
import { writeShown, writeText } from '../text-slot.ts'
import { areCounts, SHOWN_CHARS } from './family.ts'

const REF = /^[0-9a-f]{8,64}$/
const CALLS_AGO = / [1-9]\d{0,15} calls? ago/y
const PART_OF = /part [1-9]\d{0,15} of /y

/** Fields of every hint that points to an earlier result. */
export interface ToEarlier {
  readonly ref: string
  readonly call?: EarlierCall
}

export function validEarlier({ ref, call }: ToEarlier): boolean {
  if (!REF.test(ref) || call === undefined) return REF.test(ref)
  return call.tool !== '' && areCounts(1, call.calls_ago, call.part)
}

/**
 * `Read(hint.ts)`, `Read(hint.ts) 3 calls ago`, `Read 3 calls ago` or `part 2 of exec 3 calls ago`
 */
export function writeCall(call: EarlierCall, verbosity: Verbosity): string {
  const { argument, calls_ago: ago, part } = call
  const partOf = part === undefined ? '' : `part ${part} of `
  const shown = argument === undefined ? '' : writeShown(argument, SHOWN_CHARS[verbosity])
  const brackets = argument === undefined && ago !== undefined ? '' : `(${shown})`
  const distance = ago === undefined ? '' : ` ${ago} call${ago === 1 ? '' : 's'} ago`
  return partOf + writeText(call.tool) + brackets + distance
}

/** What `writeCall` wrote. */
function readCall(reader: Reader): EarlierCall | null {
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
export function readCallAfter(
  reader: Reader,
  ...introductions: readonly string[]
): EarlierCall | null | undefined {
  return introductions.some(words => reader.skip(words)) ? readCall(reader) : undefined
}
