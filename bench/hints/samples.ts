/** Hints of every family, made from what agents really called and were answered. */
import { nameEarlierCall } from '../../src/core/hints/earlier-call.ts'
import type { Change, Hint } from '../../src/core/hints/hint.ts'
import { nextPageCall } from '../../src/core/hints/next-page-call.ts'
import { CHAIN_CALLS, CHAIN_SEARCHES } from '../../src/core/hints/search-chain.ts'
import { isJsonObject, type Json } from '../../src/core/hints/tool-call.ts'
import { isSearch } from '../../src/core/pipeline/is-search.ts'
import { createRandom } from '../support/random.ts'
import type { Recorded } from './sessions.ts'

/** Results below this are not worth a hint. */
const MIN_CHARS = 200
const MIN_LINES = 10
/** Longest delta (seed 000, "Near-reference"). */
const MAX_DELTA_CHARS = 30
/** Items and lines that stay when the rest is left out. */
const KEPT = 3
const KEPT_LINES = 20

type Contexts = readonly (readonly Recorded[])[]

/** All hints that `contexts` give occasion to; the ids are random, always the same ones. */
export function sampleHints(contexts: Contexts): readonly Hint[] {
  const random = createRandom(7)
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => random(16).toString(16)).join('')
  return contexts.flatMap(context =>
    context.flatMap((result, at): Hint[] => {
      const json = parsed(result.text)
      return [
        ...references(context, at, hex),
        ...nearReferences(context, at, json, hex),
        ...lineRanges(context, at, hex),
        ...nextPages(context, result),
        ...formats(json),
        ...metadata(result),
        ...elisions(result, json, hex),
        ...searchChains(context.slice(0, at + 1)),
      ]
    }),
  )
}

type Hex = (digits: number) => string

/** Results that equal an earlier one of the context. */
function references(context: readonly Recorded[], at: number, hex: Hex): Hint[] {
  const { text } = context[at]!
  if (text.length < MIN_CHARS) return []
  const earlier = context.slice(0, at).findLastIndex(other => other.text === text)
  if (earlier < 0) return []
  const call = nameEarlierCall(context.slice(0, at), earlier)
  return [{ family: 'reference', ref: hex(8), call }]
}

/**
 * Results with the keys of the last one of the tool, as if only the first short scalars that differ
 * had changed.
 */
function nearReferences(
  context: readonly Recorded[],
  at: number,
  json: Json | undefined,
  hex: Hex,
): Hint[] {
  const { tool } = context[at]!
  const earlier = context.slice(0, at).findLastIndex(other => other.tool === tool)
  const before = earlier < 0 ? undefined : parsed(context[earlier]!.text)
  if (!isJsonObject(json) || !isJsonObject(before)) return []
  const all = differences(before, json, '$') ?? []
  let chars = 0
  const changes = all.filter(({ path, from, to }) => {
    const more = `, ${path}: ${from} ${to}`.length
    if (chars + more > MAX_DELTA_CHARS) return false
    chars += more
    return true
  })
  if (changes.length === 0) return []
  const call = nameEarlierCall(context.slice(0, at), earlier)
  return [{ family: 'near_reference', ref: hex(8), call, changes }]
}

/** Changed scalars, or `null` if anything else differs. A key of the whole is named as it is. */
function differences(a: Json, b: Json, path: string): readonly Change[] | null {
  if (JSON.stringify(a) === JSON.stringify(b)) return []
  if (!isNested(a) && !isNested(b)) return [{ path, from: a, to: b }]
  if (!isNested(a) || !isNested(b) || Array.isArray(a) !== Array.isArray(b)) return null
  const keys = Object.keys(a)
  if (keys.join() !== Object.keys(b).join()) return null
  const changes = keys.map(key => {
    const step = Array.isArray(a) ? `[${key}]` : `.${key}`
    const next = path === '$' && !isNested((a as never)[key]) ? key : path + step
    return differences((a as never)[key], (b as never)[key], next)
  })
  return changes.includes(null) ? null : changes.flatMap(change => change ?? [])
}

function isNested(value: Json): value is readonly Json[] | { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null
}

/** The longest run of lines that stands in an earlier result with the same argument. */
function lineRanges(context: readonly Recorded[], at: number, hex: Hex): Hint[] {
  const { tool, argument, text } = context[at]!
  const earlier = context
    .slice(0, at)
    .findLastIndex(other => other.tool === tool && other.argument === argument)
  if (argument === undefined || earlier < 0 || context[earlier]!.text === text) return []
  const old = context[earlier]!.text.split('\n').map(withoutNumber)
  const now = text.split('\n').map(withoutNumber)
  const places = new Map(old.map((line, index) => [line.rest, index]))
  let best = { first: 0, length: 0, shift: 0 }
  for (let from = 0; from < now.length; ) {
    const first = places.get(now[from]!.rest)
    let length = 0
    while (first !== undefined && old[first + length]?.rest === now[from + length]?.rest) {
      if (++length + from >= now.length) break
    }
    const shift = now[from]!.number - (old[first ?? 0]?.number ?? 0)
    if (first !== undefined && length > best.length) best = { first, length, shift }
    from += Math.max(1, length)
  }
  if (best.length < MIN_LINES) return []
  return [
    {
      family: 'lines',
      ref: hex(8),
      call: nameEarlierCall(context.slice(0, at), earlier),
      first: best.first + 1,
      last: best.first + best.length,
      ...(best.shift === 0 || Number.isNaN(best.shift) ? {} : { shift: best.shift }),
    },
  ]
}

function withoutNumber(line: string): { number: number; rest: string } {
  const gutter = /^ *(\d+)(?:→|\t)/.exec(line)
  return { number: Number(gutter?.[1]), rest: line.slice(gutter?.[0].length ?? 0) }
}

/**
 * Pages of files: the tool's own paging shows in its arguments, the number of lines in its other
 * answers.
 */
function nextPages(context: readonly Recorded[], { tool, args, argument, text }: Recorded): Hint[] {
  const numbers = gutterNumbers(text)
  const [first] = numbers
  if (first === undefined) return []
  const total = context
    .filter(other => other.tool === tool && other.argument === argument)
    .reduce((most, other) => Math.max(most, gutterNumbers(other.text).at(-1) ?? 0), 0)
  const page = { total, returned: numbers.length, offset: first }
  const next = nextPageCall(tool, args, page)
  if (next === null) return []
  return [{ family: 'overflow', omitted: total - first - numbers.length, unit: 'lines', ...next }]
}

function gutterNumbers(text: string): readonly number[] {
  return text
    .split('\n')
    .map(line => withoutNumber(line).number)
    .filter(number => !Number.isNaN(number))
}

/** Lists of objects, which are written as tables. */
function formats(json: Json | undefined): Hint[] {
  const rows = listsIn(json).find(({ list }) => list.every(isJsonObject))
  if (rows === undefined) return []
  const columns = Object.keys(rows.list[0] ?? {}).length
  return [{ family: 'format', format: 'csv@1', from: 'json', rows: rows.list.length, columns }]
}

/** Answers to what was asked in words: a third of their lines, as the first page of them. */
function metadata({ args, text }: Recorded): Hint[] {
  const asked = isJsonObject(args) ? (args['query'] ?? args['pattern']) : undefined
  const total = text.split('\n').length
  if (typeof asked !== 'string' || total < MIN_LINES) return []
  return [{ family: 'metadata', query: asked, total, returned: Math.ceil(total / 3) }]
}

/** The middle of lists and of long texts. */
function elisions({ text }: Recorded, json: Json | undefined, hex: Hex): Hint[] {
  const found = listsIn(json).find(({ list }) => list.length > 2 * KEPT)
  if (found !== undefined) {
    const { list, path } = found
    const keys = isJsonObject(list[0]) ? Object.keys(list[0]).slice(0, KEPT).join(', ') : undefined
    const at = `${path}[${KEPT}:${list.length - KEPT}]`
    const part = { unit: 'items', omitted: list.length - 2 * KEPT, of: list.length, at }
    return [elision(hex, part, keys)]
  }
  const lines = text.split('\n')
  const omitted = lines.length - 2 * KEPT_LINES
  if (json !== undefined || omitted < KEPT_LINES) return []
  const at = `lines ${KEPT_LINES + 1}-${lines.length - KEPT_LINES}`
  const hidden = lines.slice(KEPT_LINES, -KEPT_LINES)
  const errors = hidden.filter(line => /\b(?:error|fail)/i.test(line)).length
  const words = errors === 0 ? undefined : `${errors} with errors`
  return [elision(hex, { unit: 'lines', omitted, of: lines.length, at }, words)]
}

/** Calls that ended in a chain of searches, each with the tool that it called. */
function searchChains(calls: readonly Recorded[]): Hint[] {
  const last = calls.slice(-CHAIN_CALLS)
  const searches = last.filter(({ tool, args }) => isSearch(tool, () => args))
  const { tool } = last.at(-1)!
  if (searches.length < CHAIN_SEARCHES || searches.at(-1) !== last.at(-1)) return []
  return [{ family: 'search_chain', searches: searches.length, of: CHAIN_CALLS, tool }]
}

function elision(
  hex: Hex,
  part: { unit: string; omitted: number; of: number; at: string },
  summary: string | undefined,
): Hint {
  const words = summary === undefined ? {} : { summary }
  return { family: 'elision', hash: hex(24), parts: [part], ...words }
}

/** The value itself if it is a list, and the lists among its members. */
function listsIn(json: Json | undefined): readonly { list: readonly Json[]; path: string }[] {
  if (Array.isArray(json)) return json.length > 1 ? [{ list: json, path: '$' }] : []
  if (!isJsonObject(json)) return []
  return Object.entries(json).flatMap(([key, list]) =>
    Array.isArray(list) && list.length > 1 ? [{ list, path: `$.${key}` }] : [],
  )
}

function parsed(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
