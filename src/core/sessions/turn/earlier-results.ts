import { countLines } from '../../formats/work.ts'
import { type CallName, decisiveArgument, nameEarlierCall } from '../../hints/earlier-call.ts'
import type { EarlierCall } from '../../hints/hint.ts'
import type { SessionKey, Turn } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { type CoveredLines, coverageOf, coveredWithin } from '../lines/covered-lines.ts'
import type { EarlierResult } from '../lines/reference-line.ts'
import { type ScannedText, unsplit } from '../lines/scan-text.ts'
import { stringBodies, stringName } from '../lines/string-bodies.ts'
import { type CallFacts, hash32 } from './call-facts.ts'
import { refIn } from './long-references.ts'

/** Distances that a reader can count, so that they name a call alone. */
const NEAR_CALLS = 9

/** The note of a body, so that a later answer can name its call; JSON. */
export interface BodyNote extends CallName {
  /** Position of the result in its session. */
  readonly sequence: number
  /** What of it a reader finds in its answer; absent: neither. */
  readonly found?: FoundAs
  /** Its lines that the answer had as references; absent: none. */
  readonly covered?: CoveredLines
  /**
   * Whether the agent itself gave the text to the call, so that the call's own result may refer to
   * it.
   */
  readonly given?: true
  /** The part of the result's content that it is, from 1, if it has several. */
  readonly part?: number
  /** Its tool and arguments, as a hash, if a reader has its value. */
  readonly poll?: number
}

/**
 * `lines`: those that are not covered. `whole`: only all of it, since the answer has it in another
 * form, such as JSON as a table, in which its lines cannot be counted.
 */
export type FoundAs = 'lines' | 'whole'

/** What a reader finds of a result in its answer. */
export interface Shown {
  /** What was found for the content; absent: nothing that a later answer may refer to. */
  readonly found?: FoundAs
  /** What was found for the texts in the content's strings. */
  readonly inStrings?: FoundAs
  /**
   * Lines that the answer has as references: of the content if it is found, else of the texts in
   * its strings, after one another.
   */
  readonly covered?: CoveredLines
  /** Whether it is JSON and stands there as such, or in a format of values. */
  readonly isValue?: true
}

/** The place of a body, and how it is found. */
type BodyPlace = Pick<BodyNote, 'sequence' | 'part' | 'found' | 'covered'> & Pick<Shown, 'isValue'>

/**
 * The note for a body that comes now. Returns `null` if its call has no name: then it cannot be
 * referred to.
 */
export function noteFor(
  { tool, args }: CallFacts,
  { sequence, part, found, covered, isValue }: BodyPlace,
): string | null {
  if (tool === undefined || tool === '') return null
  const argument = decisiveArgument(args)
  return writeNote({
    tool,
    ...(argument === undefined ? {} : { argument }),
    sequence,
    ...(part === undefined ? {} : { part }),
    ...(found === undefined ? {} : { found }),
    ...(found === undefined || covered === undefined ? {} : { covered }),
    ...(isValue === undefined ? {} : { poll: pollOf({ tool, args }) }),
  })
}

/** Names a call by its tool and arguments: 32 bits. */
function pollOf({ tool, args }: CallFacts): number {
  return hash32(`${tool}\n${JSON.stringify(args)}`)
}

/**
 * The position of a result that the same call had, if a reader has its value; `undefined` for any
 * other body.
 */
export function pollIn(
  bodies: BodyMemory,
  context: SessionKey,
  identity: string,
  call: CallFacts,
): number | undefined {
  const note = bodies.noteOf(identity, context)
  if (note === null) return undefined
  const { poll, sequence } = readNote(note)
  return poll !== undefined && poll === pollOf(call) ? sequence : undefined
}

/** The note for a text that the agent itself gave to a tool, under this name in its arguments. */
export function noteForArgument(tool: string, name: string, sequence: number): string {
  return writeNote({ tool: `${tool}.${name}`, sequence, found: 'lines', given: true })
}

/** The note for a block of this name that a host put into a tool's result. */
export function noteForBlock(tool: string, name: string, sequence: number): string {
  return writeNote({ tool: `${tool}.${name}`, sequence, found: 'lines' })
}

/**
 * The texts in strings of a tool's result that later answers may refer to, with their notes.
 * @param shown of that result
 */
export function textsInStrings(
  { tool, content }: { readonly tool: string; readonly content: string },
  { inStrings, found, covered = [] }: Shown,
  sequence: number,
): readonly { readonly text: string; readonly note: string }[] {
  // A line with several texts in it may be a reference.
  if (inStrings === undefined || (found !== undefined && covered.length > 0)) return []
  let lines = 0
  return stringBodies(content).flatMap(({ name, text }) => {
    const from = lines
    lines += countLines(text)
    const own = coveredWithin(covered, from, lines)
    if (inStrings === 'whole' && own.length > 0) return []
    const note = { tool: stringName(tool, name), sequence, found: inStrings }
    return [{ text, note: writeNote(own.length === 0 ? note : { ...note, covered: own }) }]
  })
}

function writeNote(note: BodyNote): string {
  return JSON.stringify(note)
}

function readNote(note: string): BodyNote {
  return JSON.parse(note) as BodyNote
}

/** A result's place among the others of its context. */
export interface NamedTurn {
  readonly context: SessionKey
  readonly turn: Pick<Turn, 'sequence'>
  /** Whether a turn may be missing: then no distance is given. */
  readonly isUnsure?: boolean
}

/**
 * Finds bodies that were in the agent's context before this result, are durable, and have a name
 * for a reader.
 * @param byLine also those of which the answer had lines as references; else a reader finds all of
 * each where its call is
 */
export function createEarlierResults(
  bodies: BodyMemory,
  { context, turn, isUnsure = false }: NamedTurn,
  { byLine = false }: { readonly byLine?: boolean } = {},
): (identity: string) => EarlierResult | undefined {
  const known = new Map<string, EarlierResult | undefined>()
  const byRef = new Map<string, string>()

  function look(identity: string): EarlierResult | undefined {
    const note = bodies.noteOf(identity, context)
    if (note === null) return undefined
    const { sequence, found, covered, given, part, ...name } = readNote(note)
    if (found === undefined || (covered !== undefined && !byLine)) return undefined
    const whole = found === 'whole' ? { asWhole: true as const } : {}
    // A result that is sent again refers neither to itself nor to what came after it.
    const latest = given === true ? turn.sequence : turn.sequence - 1
    if (sequence > latest) return undefined
    const ref = refIn(bodies, context, identity)
    // Two bodies with the same digits cannot be distinguished in one answer.
    if ((byRef.get(ref) ?? identity) !== identity) return undefined
    byRef.set(ref, identity)
    const ago = turn.sequence - sequence
    const call = isUnsure && ago > 0 ? nameByArgument(name) : nameByDistance(name, ago)
    return { ref, call: part === undefined ? call : { ...call, part }, ...whole }
  }

  return identity => {
    if (!known.has(identity)) known.set(identity, look(identity))
    return known.get(identity)
  }
}

/**
 * Keeps a body. It may be referred to once it is confirmed. What a reader finds whole takes the
 * place of the same body with references in it. So does the same result if it was answered again,
 * because its thread was lost.
 * @returns its position, or `null` if it would take too much of the memory
 */
export function placeBody(
  bodies: BodyMemory,
  text: ScannedText,
  context: SessionKey,
  { identity, note }: { readonly identity: string; readonly note: string },
): number | null {
  const before = bodies.noteOf(identity, context)
  if (before !== null && before !== note && replaces(readNote(note), readNote(before))) {
    bodies.retract(identity, context)
  }
  return bodies.place(findable(text, note), context, identity, note)
}

function replaces(now: BodyNote, before: BodyNote): boolean {
  const isSame = now.sequence === before.sequence && now.tool === before.tool
  return isSame || (isWhole(now) && !isWhole(before))
}

function isWhole({ found, covered }: BodyNote): boolean {
  return found !== undefined && covered === undefined
}

/**
 * A text as the memory has it. Lines that no reader could find must not take the places of lines in
 * earlier texts.
 */
function findable(text: ScannedText, note: string): ScannedText {
  const { found, covered = [] } = readNote(note)
  if (found === undefined) return unsplit(text.bytes)
  return { ...text, covered: coverageOf(covered, text.lines) }
}

/** A short distance names a call alone; beyond it the argument helps to find it. */
function nameByDistance(call: CallName, ago: number): EarlierCall {
  const { tool } = call
  // The text is an argument of the very call that is answered.
  if (ago === 0) return { tool }
  if (ago <= NEAR_CALLS) return { tool, calls_ago: ago }
  return { ...nameByArgument(call), calls_ago: ago }
}

function nameByArgument(call: CallName): EarlierCall {
  const { argument } = nameEarlierCall([call], 0)
  return { tool: call.tool, ...(argument === undefined ? {} : { argument }) }
}
