import { html } from 'hono/html'
import type { Html } from './layout.ts'

/** A span of time that the figures of a page are of. */
export interface PageWindow {
  readonly name: string
  readonly label: string
  readonly hours: number
  /** Hours of a bar. */
  readonly bucketHours: number
}

const WINDOWS: readonly PageWindow[] = [
  { name: '24h', label: 'the last 24 hours', hours: 24, bucketHours: 1 },
  { name: '7d', label: 'the last 7 days', hours: 168, bucketHours: 24 },
]

/** The window of a query; the shortest if it names none that there is. */
export function windowOf(name: string | undefined): PageWindow {
  return WINDOWS.find(each => each.name === name) ?? WINDOWS[0]!
}

/** Links to the windows of a page. @param path with whatever else its query has */
export function windowLinks(path: string, current: PageWindow): Html {
  const sign = path.includes('?') ? '&' : '?'
  return html`<ul class="windows" aria-label="Window">${WINDOWS.map(({ name, label }) =>
    name === current.name
      ? html`<li><a href="${path}${sign}window=${name}" aria-current="true">${label}</a></li>`
      : html`<li><a href="${path}${sign}window=${name}">${label}</a></li>`,
  )}</ul>`
}
