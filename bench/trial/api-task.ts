import type { Random } from '../../src/lab/bill/statistics.ts'
import { json, type Solving } from './solving.ts'
import { pick } from './words.ts'

/** A page of a list, as the API gives it. */
export interface Page<Item> {
  readonly page: number
  readonly pages: number
  readonly items: readonly Item[]
}

/** The page that a path asks for; `null` if there is none of that number. */
export function pageOf<Item>(
  all: readonly Item[],
  path: string,
  size: number,
): (Page<Item> & { readonly total: number }) | null {
  const page = Number(/[?&]page=(\d+)/.exec(path)?.[1] ?? 1)
  const [pages, total] = [Math.ceil(all.length / size), all.length]
  if (page < 1 || page > pages) return null
  return { page, pages, total, items: all.slice((page - 1) * size, page * size) }
}

/** An API that writes all of its answers in one layout, drawn at random. */
export function writer(random: Random): (value: unknown) => string {
  const indent = pick(random, [2, undefined])
  return value => JSON.stringify(value, null, indent)
}

export const api = (path: string) => ({ tool: 'api', args: { path } })

/** All pages of a list, of each what is noted. */
export function* allPages<Item, T>(
  path: string,
  note: (items: readonly Item[], page: number) => T,
): Solving<readonly T[]> {
  const noted: T[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const said = yield* json(api(`${path}?page=${page}`), (value: Page<Item>) => {
      return { pages: value.pages, noted: note(value.items, page) }
    })
    pages = said.pages
    noted.push(said.noted)
  }
  return noted
}

export const REGIONS = ['north', 'south', 'east', 'west']
export const TIERS = ['basic', 'plus', 'gold']
