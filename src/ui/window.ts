import { type Html, tabs } from './layout.ts'

/** A span of time that the figures of a page are of. */
export interface PageWindow {
  readonly name: string
  /** The text of its link; `label` is for a sentence. */
  readonly short: string
  readonly label: string
  readonly days: number
  /** The span of rows and sums by hour, which are kept for a week. */
  readonly hours: number
  /** Hours of a bar. */
  readonly bucketHours: number
}

export const WINDOWS: readonly PageWindow[] = [
  ...[{ name: '24h', short: 'Today', label: 'today', days: 1 }],
  ...[{ name: '7d', short: '7 days', label: 'the last 7 days', days: 7 }],
  ...[{ name: '30d', short: '30 days', label: 'the last 30 days', days: 30 }],
  ...[{ name: 'all', short: 'All', label: 'all days that are kept', days: 400 }],
].map(each => ({
  ...each,
  hours: Math.min(7, each.days) * 24,
  bucketHours: each.days === 1 ? 1 : 24,
}))

/** Windows of what is kept by the hour. They go back whole days from now. */
export const HOUR_WINDOWS = WINDOWS.slice(0, 2).map(each => ({
  ...each,
  short: each.days === 1 ? '24 hours' : each.short,
}))

/** The window of a query; another one if it names none that there is. */
export function windowOf(
  name: string | undefined,
  all: readonly PageWindow[],
  otherwise: string,
): PageWindow {
  return all.find(each => each.name === name) ?? all.find(each => each.name === otherwise)!
}

/** Links to the windows of a page. @param path with whatever else its query has */
export function windowLinks(
  path: string,
  current: PageWindow,
  all: readonly PageWindow[] = WINDOWS,
): Html {
  const sign = path.includes('?') ? '&' : '?'
  const links = all.map(({ name, short }) => [name, `${path}${sign}window=${name}`, short] as const)
  return tabs('Window', current.name, links)
}
