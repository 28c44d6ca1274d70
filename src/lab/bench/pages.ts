import { percent, table } from '../../console/table.ts'
import type { EncodeRequest } from '../../core/contract/encode.ts'
import { encodeOperation } from '../../core/operations/encode.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import { readResults } from '../replay/read-results.ts'

/** Ways to write a list, the first two without us. */
const WAYS = ['json', 'toon', 'haversack'] as const
type Way = (typeof WAYS)[number]

/** A list that pages of at most so many tokens are made of. */
interface PagedList {
  readonly name: string
  readonly items: number
  /** Tokens of the whole list. */
  readonly tokens: Readonly<Record<Way, number>>
  /** Pages that the list takes, and items of the first one. */
  readonly pages: Readonly<Record<Way, number>>
  readonly first: Readonly<Record<Way, number>>
}

export interface PagesTerms {
  readonly budget: number
  readonly tokens: Pick<EncodeRequest, 'tokenizer' | 'model'>
  readonly context: OperationContext
}

const LEAST_ITEMS = 2

/**
 * The lists of files and recordings below a path: how many pages each takes as compact JSON, as
 * TOON and as we write it. A result that is an object counts by the longest list in it.
 */
export async function pageLists(path: string, terms: PagesTerms): Promise<readonly PagedList[]> {
  const { context, tokens } = terms
  // Nothing else needs it.
  const { encode } = await import('@toon-format/toon')
  const counter = context.counters.get(resolveTokenizer(tokens))
  const sizes: Record<Way, (items: readonly unknown[]) => number> = {
    json: items => counter.count(JSON.stringify(items)),
    toon: items => counter.count(encode(items)),
    haversack(items) {
      const request = { content: JSON.stringify(items), mode: 'lossless', ...tokens } as const
      return encodeOperation.run(request, context).answer.tokens.final
    },
  }
  return readResults(path).results.flatMap(({ tool, text }, at) => {
    const items = listIn(text)
    if (items === null) return []
    const of = <T>(value: (way: Way) => T) =>
      Object.fromEntries(WAYS.map(way => [way, value(way)])) as Record<Way, T>
    const cuts = of(way => pagesOf(items, sizes[way], terms.budget))
    return {
      name: `${tool} ${at + 1}`,
      items: items.length,
      tokens: of(way => sizes[way](items)),
      pages: of(way => cuts[way].length),
      first: of(way => cuts[way][0]!),
    }
  })
}

/** The items of a list, or of the longest list that is a member of an object. */
function listIn(text: string): readonly unknown[] | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const lists = Array.isArray(value) ? [value] : Object.values(value ?? {}).filter(Array.isArray)
  const longest = lists.reduce<readonly unknown[]>((a, b) => (b.length > a.length ? b : a), [])
  return longest.length < LEAST_ITEMS ? null : longest
}

/**
 * Items by page, each as full as it can be. An item that no page has room for is alone on one.
 * Logarithmic in a page's items, since a list with more items has more tokens.
 */
function pagesOf(
  items: readonly unknown[],
  size: (items: readonly unknown[]) => number,
  budget: number,
): readonly number[] {
  const pages: number[] = []
  for (let from = 0; from < items.length; from += pages.at(-1)!) {
    const left = items.length - from
    const fits = (count: number) => size(items.slice(from, from + count)) <= budget
    let [low, high] = [1, 2]
    while (high <= left && fits(high)) [low, high] = [high, 2 * high]
    high = Math.min(high, left + 1)
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if (fits(middle)) low = middle
      else high = middle
    }
    pages.push(low)
  }
  return pages
}

/** The table for a reader, the sum last. */
export function pagesTable(lists: readonly PagedList[], budget: number): string {
  if (lists.length === 0) return 'No lists were found.\n'
  const sum = (pick: (list: PagedList) => number) =>
    lists.reduce((all, each) => all + pick(each), 0)
  const total: PagedList = {
    name: 'all',
    items: sum(({ items }) => items),
    ...sums(sum),
  }
  const rows = [...lists, total].map(({ name, items, tokens, pages, first }) => [
    ...[name, items, ...WAYS.map(way => pages[way]), ...WAYS.map(way => first[way])],
    ...[percent(tokens.json - tokens.toon, tokens.json)],
    percent(tokens.json - tokens.haversack, tokens.json),
  ])
  const head = [
    ...['list', 'items', ...WAYS.map(way => `pages ${way}`), ...WAYS.map(way => `first ${way}`)],
    ...['toon saves', 'haversack saves'],
  ]
  const title = `Pages of at most ${budget} tokens, and the items of the first one:`
  return `${title}\n\n${table(head, rows)}\n`
}

function sums(sum: (pick: (list: PagedList) => number) => number) {
  const of = (key: 'tokens' | 'pages' | 'first') =>
    Object.fromEntries(WAYS.map(way => [way, sum(list => list[key][way])])) as Record<Way, number>
  return { tokens: of('tokens'), pages: of('pages'), first: of('first') }
}
