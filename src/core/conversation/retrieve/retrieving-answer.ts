import { RETRIEVE_TOOL } from '../../contract/retrieve-tool.ts'
import type { Fields } from '../../dialects/bodies/route.ts'

/** A call of our tool in a model's answer. */
export interface OwnCall {
  readonly id: string
  /** The arguments, as the model wrote them: JSON, if it wrote any. */
  readonly args: string
}

/** One server-sent event of an answer. */
export interface AnswerEvent {
  /** Its bytes, with the blank line at its end. */
  readonly raw: Uint8Array
  /** `null` if it has none. */
  readonly name: string | null
  /** Its data as JSON; `undefined` if it is none. */
  readonly data: Fields | undefined
}

/** Text of an answer's tail for the client, and what was hidden from it. */
export interface FinishedAnswer<Sent> {
  readonly sent: Sent
  /** What later requests need to have put back; `null`: nothing was hidden. */
  readonly hidden: HiddenTurn | null
}

/**
 * What the client was not shown of one turn of the model. JSON texts are kept as they were sent to
 * the provider, so that later requests repeat them byte for byte.
 */
export interface HiddenTurn {
  /** SHA-256 of what the client was shown. */
  readonly shown: string
  /** The id of the first call that the client was shown; `shown` if there is none. */
  readonly anchor: string
  /** Rounds of which only the text was shown, in order. */
  readonly rounds: readonly HiddenRound[]
  /** Calls beside calls of the client, in order. */
  readonly calls: readonly HiddenCall[]
}

/** A round that ended with calls of ours alone. */
export interface HiddenRound {
  /** Units of it that the client was shown: blocks, characters of text, or items. */
  readonly shown: number
  /** Its messages and their results: JSON items, with commas between them. */
  readonly items: string
}

/** A call of ours that was cut out of a message with calls of the client. */
export interface HiddenCall {
  /** How many units of the client's message, or of its calls, come before it. */
  readonly at: number
  readonly call: string
  /** How many results of the client come before its result. */
  readonly resultAt: number
  readonly result: string
}

/**
 * An answer of a model in which calls of our tool are hidden from the client. It may take several
 * rounds: after one with our calls alone the provider is asked again.
 *
 * A stream gives each event to `event`; an answer in one piece goes to `whole`. Then `calls` has
 * the calls of the round. Either `nextRound` begins another one, or `finish` ends the answer.
 */
export interface RetrievingAnswer {
  /** Takes an event. Returns what passes to the client now. */
  event(event: AnswerEvent): readonly Uint8Array[]
  whole(answer: Fields): void
  /** Our calls of this round, in the order in which the model made them. */
  readonly calls: readonly OwnCall[]
  /** Whether the model waits for our calls alone. */
  readonly waitsForUs: boolean
  /** Whether the answer can be continued: everything in it is known, and kept. */
  readonly isKnown: boolean
  /** Keeps no more of what comes: the answer is too long to be continued. */
  forget(): void
  /**
   * Begins another round.
   * @param results of `calls`, in their order
   * @returns JSON items for the end of the request's list of messages
   */
  nextRound(results: readonly string[]): string
  /**
   * Ends a streamed answer.
   * @param results of `calls`; `null`: the calls are dropped
   */
  finishStream(results: readonly string[] | null): FinishedAnswer<readonly Uint8Array[]>
  /** Ends an answer in one piece. @returns `sent: null` if the client gets it unchanged */
  finishWhole(results: readonly string[] | null): FinishedAnswer<Fields | null>
}

/** What the client reads if a model only fetched, until no more fetches were answered. */
export const LIMIT_TEXT = [
  `The limit of ${RETRIEVE_TOOL} calls for one request is reached,`,
  'so this answer ends here.',
].join(' ')

/** An event as bytes. */
export function eventBytes(name: string | null, data: unknown): Uint8Array {
  const head = name === null ? '' : `event: ${name}\n`
  return Buffer.from(`${head}data: ${JSON.stringify(data)}\n\n`)
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

/** The arguments of a call as a JSON value; an empty object if they are none. */
export function inputOf(args: string): unknown {
  try {
    return JSON.parse(args === '' ? '{}' : args)
  } catch {
    return {}
  }
}
