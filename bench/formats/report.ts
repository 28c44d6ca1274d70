import { percent } from '../../src/cli/table.ts'
import { markdownTable } from '../support/markdown-table.ts'
import type { Candidate } from './candidates.ts'
import type { Contents } from './contents.ts'
import type { Parity } from './parity.ts'
import { isToBeDropped, type Place } from './places.ts'
import { type Remaining, TOKEN_KINDS } from './remaining.ts'
import type { ShapeSums } from './shapes.ts'

/** What the seeds of the project expect for a shape, against JSON. */
const EXPECTED: Readonly<Record<string, string>> = {
  array_of_objects: '70–85 %',
  flat_object: 'over 75 %',
}

/** Tokens of JSON files in every format. */
export function contentsTable(rows: readonly Contents[]): string {
  return markdownTable(
    [
      '',
      'files',
      'pretty JSON',
      'compact JSON',
      'TOON',
      'best of csv, compact',
      'ours',
      'of compact',
      'of TOON',
      'above compact',
    ],
    rows.map(({ name, files, pretty, compact, toon, other, ours, above }) => [
      name,
      files,
      pretty,
      compact,
      toon,
      other,
      ours,
      percent(ours, compact),
      percent(ours, toon),
      above,
    ]),
  )
}

/** What each notation is worth, and whether it should go. */
export function placesTable(places: readonly Place[]): string {
  const all = places.reduce((sum, { tokensIn, tokensOut }) => sum + tokensIn - tokensOut, 0)
  return markdownTable(
    [
      'notation',
      'sent',
      'inside texts',
      'tokens in',
      'saved over the next best',
      'of all saved',
      'clearly cheapest',
      'verdict',
    ],
    places.map(place => [
      place.format,
      place.won,
      place.inside,
      place.tokensIn,
      place.saved,
      percent(place.saved, all),
      place.clear,
      verdictOn(place, all),
    ]),
  )
}

function verdictOn(place: Place, allSaved: number): string {
  if (place.won + place.inside === 0) return 'none in the corpus'
  return isToBeDropped(place, allSaved) ? 'to be dropped' : 'stays'
}

/** Whether any JSON result takes more than its compact JSON. */
export function aboveLine({ json }: ShapeSums, encoding: string): string {
  const above = json.reduce((sum, row) => sum + row.above, 0)
  const files = json.reduce((sum, row) => sum + row.files, 0)
  return `Above its compact JSON in ${encoding}: ${above} of ${files} JSON results.`
}

/** What notations of others would save. */
export function candidatesTable(candidates: readonly Candidate[]): string {
  return markdownTable(
    ['candidate', 'results it can say', 'its tokens', 'ours', 'cheapest for', 'would save'],
    candidates.map(({ name, results, tokens, ours, won, saved }) => [
      name,
      results,
      tokens,
      ours,
      won,
      saved,
    ]),
  )
}

/** Savings on JSON by shape. */
export function jsonShapesTable({ json }: ShapeSums): string {
  return markdownTable(
    [
      'shape',
      'results',
      'pretty JSON',
      'compact JSON',
      'ours',
      'saved, of pretty',
      'saved, of compact',
      'the seeds expect',
      'values alone, of compact',
      'above compact',
    ],
    json.map(({ name, files, pretty, compact, ours, values, above }) => [
      name,
      files,
      pretty,
      compact,
      ours,
      percent(pretty - ours, pretty),
      percent(compact - ours, compact),
      EXPECTED[name] ?? '',
      percent(values, compact),
      above,
    ]),
  )
}

/** Savings on texts by shape. */
export function textShapesTable({ text }: ShapeSums): string {
  return markdownTable(
    ['shape', 'results', 'tokens in', 'tokens out', 'saved'],
    text.map(({ shape, results, tokensIn, tokensOut }) => [
      shape,
      results,
      tokensIn,
      tokensOut,
      percent(tokensIn - tokensOut, tokensIn),
    ]),
  )
}

/** A peer's recorded answers beside ours. */
export function parityTable(rows: readonly Parity[]): string {
  const sum = (of: (row: Parity) => number): number => rows.reduce((all, row) => all + of(row), 0)
  const all: Parity = {
    component: 'all',
    inputs: sum(row => row.inputs),
    raw: sum(row => row.raw),
    peer: sum(row => row.peer),
    ours: sum(row => row.ours),
    peerBelow: sum(row => row.peerBelow),
  }
  return markdownTable(
    ["the peer's component", 'distinct inputs', 'raw', 'peer', 'ours', 'peer below ours'],
    [...rows, all].map(({ component, inputs, raw, peer, ours, peerBelow }) => [
      component,
      inputs,
      raw,
      peer,
      ours,
      peerBelow,
    ]),
  )
}

/** What the tokens of our answers are made of. */
export function remainingTable(rows: readonly Remaining[]): string {
  const all = rows.reduce((sum, { tokens }) => sum + tokens, 0)
  return markdownTable(
    ['sent as', 'results', 'tokens out', 'of all', ...TOKEN_KINDS],
    rows.map(({ name, results, tokens, kinds }) => [
      name,
      results,
      tokens,
      percent(tokens, all),
      ...TOKEN_KINDS.map(kind => percent(kinds[kind], tokens)),
    ]),
  )
}
