import { type CallName, decisiveArgument, nameEarlierCall } from '../../hints/earlier-call.ts'
import type { EarlierCall } from '../../hints/hint.ts'
import type { SessionKey, Turn } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import type { EarlierResult } from '../lines/reference-line.ts'
import { type ScannedText, unsplit } from '../lines/scan-text.ts'
import { stringName } from '../lines/string-bodies.ts'
import type { CallFacts } from './call-facts.ts'
import { refIn } from './long-references.ts'

/** Distances that a reader can count, so that they name a call alone. */
const NEAR_CALLS = 9

/** The note of a body, so that a later answer can name its call; JSON. */
export interface BodyNote extends CallName {
  /** Position of the result in its session. */
  readonly sequence: number
  /**
   * References that a reader follows to its lines: 0 if they are in the answer as it was sent. From
   * `AS_A_WHOLE` on it is found as a whole only, by so many references more. Absent if it cannot be
   * found.
   */
  readonly hops?: number
  /**
   * Whether the agent itself gave the text to the call, so that the call's own result may refer to
   * it.
   */
  readonly given?: true
  /** The part of the result's content that it is, from 1, if it has several. */
  readonly part?: number
}

/** Most references that a reader must follow. */
const MAX_HOPS = 8

/**
 * Added to the number of references if the answer has the content in another form, such as JSON as
 * a table. Its lines cannot be counted there, so references are to all of it.
 */
const AS_A_WHOLE = 16

/** Added too if the lines of the texts in the content's strings can be counted nevertheless. */
const STRINGS_COUNTED = 32

/** The same for a content of which only lines in strings can be counted. */
export function withCountedStrings(hops: number): number {
  return hops < STRINGS_COUNTED ? hops + STRINGS_COUNTED : hops
}

/** References that a reader follows to the lines of texts in the content's strings. */
function hopsToStrings(hops: number): number {
  return hops < STRINGS_COUNTED ? hops : hops % AS_A_WHOLE
}

/**
 * References that a reader follows through an answer to the content's lines, as in a note;
 * `undefined` if they are too many.
 * @param counted whether the content's lines can be counted in the answer
 * @param dependencies of the results that the answer refers to
 */
export function hopsThrough(counted: boolean, dependencies: readonly number[]): number | undefined {
  let most = -1
  let isWhole = !counted
  for (const hops of dependencies) {
    isWhole ||= hops >= AS_A_WHOLE
    most = Math.max(most, hops % AS_A_WHOLE)
  }
  if (most + 1 >= MAX_HOPS) return undefined
  return most + 1 + (isWhole ? AS_A_WHOLE : 0)
}

/** The place of a body, and how it is found. */
type BodyPlace = Pick<BodyNote, 'sequence' | 'part'> & { readonly hops: number | undefined }

/**
 * The note for a body that comes now. Returns `null` if its call has no name: then it cannot be
 * referred to.
 */
export function noteFor(
  { tool, args }: CallFacts,
  { sequence, part, hops }: BodyPlace,
): string | null {
  if (tool === undefined || tool === '') return null
  const argument = decisiveArgument(args)
  return writeNote({
    tool,
    ...(argument === undefined ? {} : { argument }),
    sequence,
    ...(part === undefined ? {} : { part }),
    ...(hops === undefined ? {} : { hops }),
  })
}

/** The note for a text that the agent itself gave to a tool, under this name in its arguments. */
export function noteForArgument(tool: string, name: string, sequence: number): string {
  return writeNote({ tool: `${tool}.${name}`, sequence, hops: 0, given: true })
}

/** The note for a block of this name that a host put into a tool's result. */
export function noteForBlock(tool: string, name: string, sequence: number): string {
  return writeNote({ tool: `${tool}.${name}`, sequence, hops: 0 })
}

/** The note for a text in a string of a tool's result, by its path there. */
export function noteForString(
  tool: string,
  name: string,
  { sequence, hops }: { readonly sequence: number; readonly hops: number },
): string {
  return writeNote({ tool: stringName(tool, name), sequence, hops: hopsToStrings(hops) })
}

function writeNote(note: BodyNote): string {
  return JSON.stringify(note)
}

function readNote(note: string): BodyNote {
  return JSON.parse(note) as BodyNote
}

/** References that a reader follows to a body's lines, `undefined` if they cannot be found. */
export function hopsTo(
  bodies: BodyMemory,
  { context }: Pick<NamedTurn, 'context'>,
  identity: string,
): number | undefined {
  const note = bodies.noteOf(identity, context)
  return note === null ? undefined : readNote(note).hops
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
 * @param byLine only those whose lines a reader finds, one by one or all of them
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
    const { sequence, hops = MAX_HOPS, given, part, ...name } = readNote(note)
    if (byLine && hops % AS_A_WHOLE >= MAX_HOPS) return undefined
    const whole = hops >= AS_A_WHOLE ? { asWhole: true as const } : {}
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
 * A text as the memory has it. If no reader could find its lines, they must not take the places of
 * lines in earlier texts.
 */
export function findable(text: ScannedText, note: string): ScannedText {
  const { hops = MAX_HOPS } = readNote(note)
  return hops % AS_A_WHOLE < MAX_HOPS ? text : unsplit(text.bytes)
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
