import type { EarlierCall, Verbosity } from '../../hints/hint.ts'
import { hintLine, parseHint } from '../../hints/hint-line.ts'
import type { RunGutter } from './compare-lines.ts'
import { readSigns, writeSigns } from './sign-runs.ts'

/** An earlier result as an answer refers to it. */
export interface EarlierResult {
  /** First hex digits of its identity, 8 or more; no other body of the session has them. */
  readonly ref: string
  /** How a model finds it; without this its first delivery must have carried the ref. */
  readonly call?: EarlierCall
  /** Whether a reader finds all of it, but no lines by their numbers. */
  readonly asWhole?: true
}

/** The lines that one line of an answer refers to. */
export interface LineReference {
  /** `undefined`: of the same body as the reference before. */
  readonly ref: string | undefined
  readonly first: number
  readonly last: number
  readonly gutter: RunGutter
}

/** A reference that is to be written. */
type NewReference = Omit<LineReference, 'ref'>

/** The form of its lines' gutters now, after a hint. */
const SUFFIXES = [
  { text: ' numbered on', gutter: { kind: 'continued', dashes: false } },
  { text: ' numbered on with -', gutter: { kind: 'continued', dashes: true } },
  { text: ' without numbers', gutter: { kind: 'dropped' } },
  {
    text: ' numbered on without signs',
    gutter: { kind: 'continued', dashes: false, unsigned: true },
  },
  {
    text: ' numbered on with - without signs',
    gutter: { kind: 'continued', dashes: true, unsigned: true },
  },
  { text: ' without signs', gutter: { kind: 'dropped', unsigned: true } },
] as const satisfies readonly { readonly text: string; readonly gutter: RunGutter }[]

/** Precedes the signs that its lines have now. */
const SIGNS = ' signs '

/** Further lines of the body that the reference before was about. */
const SAME_BODY = /^> \[lines? ([1-9]\d{0,8})(?:-([1-9]\d{0,8}))?(?: ([+-][1-9]\d{0,8}))?\]$/

function writeSameBody(first: number, last: number, shift: number): string {
  const lines = first === last ? `line ${first}` : `lines ${first}-${last}`
  return `> [${lines}${shift === 0 ? '' : ` ${shift > 0 ? '+' : ''}${shift}`}]`
}

/** Writes the references of one answer, each as short as those before it allow. */
export interface ReferenceWriter {
  /** The next reference's line as it would be, or `null` if it cannot be written. */
  write(earlier: EarlierResult, reference: NewReference): string | null
  /** That reference is now in the answer. */
  take(earlier: EarlierResult): void
}

/**
 * The first reference to a body names its call; a reference to the body of the one before has no
 * id.
 */
export function createReferenceWriter(verbosity: Verbosity): ReferenceWriter {
  const introduced = new Set<string>()
  let current = ''

  function write(
    { ref, call }: EarlierResult,
    { first, last, gutter }: NewReference,
  ): string | null {
    const suffix = suffixOf(gutter)
    const shift = gutter.kind === 'kept' ? gutter.shift : 0
    if (ref === current) return writeSameBody(first, last, shift) + suffix
    const named = call === undefined || introduced.has(ref) ? {} : { call }
    const shifted = shift === 0 ? {} : { shift }
    const hint = hintLine({ family: 'lines', ref, ...named, first, last, ...shifted }, verbosity)
    return hint === null ? null : hint + suffix
  }

  return {
    write,
    take({ ref }) {
      introduced.add(ref)
      current = ref
    },
  }
}

function suffixOf(gutter: RunGutter): string {
  if (gutter.kind === 'kept') return ''
  if (gutter.kind === 'signed') return SIGNS + writeSigns(gutter.signs)
  const { kind, unsigned } = gutter
  const dashes = kind === 'continued' && gutter.dashes
  const isSame = (known: (typeof SUFFIXES)[number]['gutter']) =>
    known.kind === kind &&
    'unsigned' in known === (unsigned === true) &&
    (known.kind === 'dropped' || known.dashes === dashes)
  return SUFFIXES.find(suffix => isSame(suffix.gutter))!.text
}

/** The reference that a line is, or `null` for any other line. */
export function readReference(line: string): LineReference | null {
  const bracket = line.lastIndexOf(']') + 1
  const rest = line.slice(bracket)
  const hint = line.slice(0, bracket)
  const facts = fromSameBody(hint) ?? fromHint(hint)
  if (facts === null || facts.first > facts.last) return null
  const { shift, ...where } = facts
  if (rest === '') return { ...where, gutter: { kind: 'kept', shift } }
  const gutter = readSuffix(rest)
  return gutter === null || shift !== 0 ? null : { ...where, gutter }
}

/** What must stand before a reference in an answer: a line with a number, another reference. */
export function needsOf(line: string): {
  readonly lineBefore: boolean
  readonly referenceBefore: boolean
} {
  const reference = readReference(line)
  return {
    lineBefore: reference?.gutter.kind === 'continued',
    referenceBefore: reference?.ref === undefined,
  }
}

function readSuffix(text: string): RunGutter | null {
  if (!text.startsWith(SIGNS)) return SUFFIXES.find(suffix => suffix.text === text)?.gutter ?? null
  const signs = readSigns(text.slice(SIGNS.length))
  return signs && { kind: 'signed', signs }
}

/** The fields of a hint about lines and their numbers. */
type Facts = Omit<LineReference, 'gutter'> & { readonly shift: number }

function fromSameBody(line: string): Facts | null {
  const match = SAME_BODY.exec(line)
  if (match === null) return null
  const first = Number(match[1])
  const last = Number(match[2] ?? match[1])
  const shift = Number(match[3] ?? 0)
  return writeSameBody(first, last, shift) === line ? { ref: undefined, first, last, shift } : null
}

function fromHint(line: string): Facts | null {
  const hint = parseHint(line)
  if (hint?.family !== 'lines') return null
  const { ref, first, last, shift = 0 } = hint
  return { ref, first, last, shift }
}
