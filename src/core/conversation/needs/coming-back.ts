import type { Report } from '../../contract/operation-result.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import { endpointClass } from '../../telemetry/endpoint-class.ts'
import { MAX_COMING_BACK } from '../../telemetry/event.ts'
import { quotedLines } from './edit-quotes.ts'
import { findNeeds } from './find-needs.ts'

/** A result of a request, as it was sent. */
export interface SentResult {
  readonly result: ToolResultText
  /** The text that was sent as JSON; `null`: its own. */
  readonly literal: Uint8Array | null
  /** Originals that it names. */
  readonly markers: readonly string[]
  /** Whether the request has it for the first time, and telemetry records it. */
  readonly isNew: boolean
  /** Whether an earlier request had it. */
  readonly isKnown: boolean
}

/** Endpoint classes of results with parts left out: see `telemetryEvent`. */
interface ComingBack {
  readonly retrieved_of?: string[]
  readonly needed_of?: string[]
}

interface ComingBackTerms {
  /** Tools that fetch originals. */
  readonly retrieving: readonly string[]
  classOf(result: ToolResultText): string
}

/**
 * What new results of a request come back to, by their places. It follows from the history alone,
 * so each process finds the same. What results say that telemetry does not record, such as fetched
 * originals, counts with the next one that it records.
 */
function comingBack(
  sent: readonly SentResult[],
  terms: ComingBackTerms,
): ReadonlyMap<number, ComingBack> {
  const found = new Map<number, { retrieved_of?: string[]; needed_of?: string[] }>()
  if (!sent.some(({ markers }) => markers.length > 0)) return found
  const note = (at: number, of: number, kind: 'retrieved_of' | 'needed_of') => {
    const place = recorderOf(sent, at)
    if (place === null) return
    const back = found.get(place) ?? {}
    found.set(place, back)
    const names = back[kind] ?? []
    back[kind] = names
    if (names.length < MAX_COMING_BACK) names.push(terms.classOf(sent[of]!.result))
  }
  for (const { at, of } of retrievalsIn(sent, terms.retrieving)) note(at, of, 'retrieved_of')
  for (const { edit, result } of needsIn(sent)) note(edit, result, 'needed_of')
  return found
}

/**
 * New results, whose rows now say what they come back to.
 * @param rows of the new ones of `sent`, in their order
 */
export function withComingBack<New extends Pick<Report, 'row'>>(
  rows: readonly New[],
  sent: readonly SentResult[],
  retrieving: readonly string[],
): readonly New[] {
  if (rows.length === 0) return rows
  const classOf = (of: ToolResultText) => endpointClass(of.tool, of.args())
  const found = comingBack(sent, { retrieving, classOf })
  if (found.size === 0) return rows
  const places = sent.flatMap(({ isNew }, place) => (isNew ? [place] : []))
  return rows.map((each, index) => {
    const { row } = each
    const back = found.get(places[index]!)
    if (back === undefined || row === undefined) return each
    return { ...each, row: () => ({ ...row(), ...back }) }
  })
}

/** The place of the result that a later event tells of this one; `null`: an earlier event did. */
function recorderOf(sent: readonly SentResult[], at: number): number | null {
  for (let place = at; place < sent.length; place++) {
    if (sent[place]!.isKnown) return null
    if (sent[place]!.isNew) return place
  }
  return null
}

/** The first retrieval of each result whose original was fetched. */
function* retrievalsIn(sent: readonly SentResult[], retrieving: readonly string[]) {
  const owners = new Map<string, number>()
  const fetched = new Set<number>()
  for (const [at, { result, markers }] of sent.entries()) {
    if (owners.size > 0 && isRetrieving(result.tool, retrieving)) {
      for (const hash of hashesIn(result.args())) {
        const of = owners.get(hash)
        if (of === undefined || fetched.has(of)) continue
        fetched.add(of)
        yield { at, of }
      }
    }
    for (const hash of markers) owners.set(hash, at)
  }
}

const HASH_DIGITS = 24

/** The starts of texts in arguments; a call may ask for a part of an original. */
function hashesIn(args: unknown): readonly string[] {
  if (typeof args !== 'object' || args === null) return []
  return Object.values(args).flatMap(value =>
    typeof value === 'string' ? [value.slice(0, HASH_DIGITS)] : [],
  )
}

/** Needs, if one of the results that are not known is of an edit. */
function needsIn(sent: readonly SentResult[]) {
  const isEdit = ({ result, isKnown }: SentResult) =>
    !isKnown && !result.isError && quotedLines(result.args()).length > 0
  if (!sent.some(isEdit)) return []
  return findNeeds(
    sent.map(({ result, literal, markers }) => ({
      context: '',
      isError: result.isError,
      args: () => result.args(),
      text: () => result.text(),
      shown: () => (markers.length === 0 || literal === null ? undefined : textOf(literal)),
    })),
  )
}

function textOf(literal: Uint8Array): string {
  return JSON.parse(Buffer.from(literal).toString()) as string
}
