import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { json, type Solving } from './solving.ts'
import type { Task } from './task.ts'

/** A page of a list, as the API gives it. */
export interface Page<Item> {
  readonly page: number
  readonly pages: number
  readonly items: readonly Item[]
}

export const pageOf = (path: string) => Number(/[?&]page=(\d+)/.exec(path)?.[1] ?? 1)

/** A page of a list; `null` if there is none of that number. */
export function paged(items: readonly Json[], path: string, size: number): Json {
  const pages = Math.ceil(items.length / size)
  const page = pageOf(path)
  if (page < 1 || page > pages) return null
  return { page, pages, total: items.length, items: items.slice((page - 1) * size, page * size) }
}

/** An API that writes all of its answers in one layout, drawn at random. */
export function writer(random: Random): (value: Json) => string {
  const indent = random(2) === 0 ? 2 : undefined
  return value => JSON.stringify(value, null, indent)
}

export type Route = (path: string) => string | null

export function taskOf(prompt: string, right: string, createRoute: () => Route): Task {
  return {
    prompt,
    answer: right,
    createWorld: () => ({ files: new Map(), api: createRoute() }),
    grade: async world =>
      world.answer === right ? null : `the answer is ${world.answer}, not ${right}`,
  }
}

export const api = (path: string) => ({ tool: 'api', args: { path } })

/** All pages of a list, of each what is noted. */
export function* allPages<Item, T>(
  path: string,
  note: (items: readonly Item[], call: number) => T,
  made: { calls: number },
): Solving<readonly T[]> {
  const noted: T[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const call = made.calls++
    const said = yield* json(api(`${path}?page=${page}`), (value: Page<Item>) => ({
      pages: value.pages,
      noted: note(value.items, call),
    }))
    pages = said.pages
    noted.push(said.noted)
  }
  return noted
}

export const REGIONS = ['north', 'south', 'east', 'west']
export const TIERS = ['basic', 'plus', 'gold']
