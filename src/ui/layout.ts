import { html } from 'hono/html'
import { time } from './show.ts'

/** Markup: everything in it that came from elsewhere is escaped. */
export type Html = ReturnType<typeof html>

/** The pages of the head of each page. */
const PLACES = [
  ['/ui', 'Overview'],
  ['/ui/conversations', 'Sessions'],
  ['/ui/tools', 'Tools'],
  ['/ui/try', 'Try it'],
] as const

export interface Page {
  readonly title: string
  /** The heading, if it is not the title; what stands below it, and at its side. */
  readonly heading?: Html | string
  readonly sub?: Html | string
  readonly aside?: Html
  /** Path of the entry that is marked; absent: none. */
  readonly place?: string
  readonly body: Html
  /** Whose figures they are; absent for a page without figures. */
  readonly reader?: Reader
  /** Whether the page follows new figures. */
  readonly live?: boolean
  /** When the figures were read, if they cannot be read now; in Unix milliseconds. */
  readonly readAt?: number | null
}

export interface Reader {
  readonly tenant: string
  /** Whether there is a session that can be ended. */
  readonly canLeave: boolean
}

/** A whole page. */
export function layout({ title, place, body, reader, ...page }: Page): Html {
  const { heading = title, sub, aside, live = false, readAt = null } = page
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>${title} · Haversack</title>
<link rel="icon" href="/ui/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/ui/style.css">
${live ? html`<script src="/ui/live.js" defer></script>` : ''}
${reader === undefined ? '' : html`<script src="/ui/keys.js" defer></script>`}
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header class="top">
<a class="brand" href="/ui"><img src="/ui/icon.svg" alt="" width="22" height="22">Haversack</a>
${reader === undefined ? '' : navigation(place, reader)}
</header>
<main id="main" tabindex="-1">
<div class="bar"><div><h1>${heading}</h1>${sub === undefined ? '' : html`<p class="sub">${sub}</p>`}
</div>${aside ?? ''}</div>
${live ? html`<p id="news" class="news" role="status"></p>` : ''}
${readAt === null ? '' : staleNote(readAt)}
${body}
</main>
${reader === undefined ? '' : html`<footer class="foot">${keyList()}</footer>`}
</body>
</html>`
}

function staleNote(readAt: number): Html {
  return html`<p class="bad" role="alert">The ledger cannot be read now. These figures are of
${time(readAt)} UTC.</p>`
}

function navigation(place: string | undefined, { tenant, canLeave }: Reader): Html {
  const links = PLACES.map(
    ([path, name]) => html`<a href="${path}"${current(path === place)}>
${name}</a>`,
  )
  return html`<nav aria-label="Pages">${links}</nav>
<div class="who"><a href="/ui/service" title="The service, and the keys of this tenant"${current(
    place === '/ui/service',
  )}>${tenant}</a>
${canLeave ? html`<form method="post" action="/ui/logout"><button>Leave</button></form>` : ''}
</div>`
}

function current(isIt: boolean): Html | string {
  return isIt ? html` aria-current="page"` : ''
}

/** What `keys.js` listens to. */
const KEYS = [
  ['j', 'the next row'],
  ['k', 'the row before'],
  ['Enter', 'open it'],
  ['/', 'filter the tools'],
  ['[', 'the session before, or the page before'],
  [']', 'the next one'],
  ['?', 'this list'],
] as const

function keyList(): Html {
  return html`<details id="keys"><summary>Keyboard</summary><dl>${KEYS.map(
    ([key, meaning]) => html`<div><dt><kbd>${key}</kbd></dt><dd>${meaning}</dd></div>`,
  )}</dl></details>`
}

/** Links of which one is chosen: `[name, path, text]`. */
export function tabs(
  label: string,
  chosen: string,
  all: readonly (readonly [name: string, path: string, text: string])[],
): Html {
  return html`<ul class="seg" aria-label="${label}">${all.map(
    ([name, path, text]) =>
      html`<li><a href="${path}"${name === chosen ? html` aria-current="true"` : ''}>${text}</a></li>`,
  )}</ul>`
}

/** A part of a page with a heading. @param id of its heading, which names it */
export function card(
  id: string,
  title: Html | string,
  body: Html,
  aside: Html | string = '',
): Html {
  return html`<section class="card" aria-labelledby="${id}"><header><h2 id="${id}">${title}</h2>
${aside}</header>${body}</section>`
}

/** A figure with its unit, denominator, window and tokenizer below it. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly about: Html | string
  readonly tone?: 'good' | 'bad' | ''
}

export function figures(all: readonly Figure[]): Html {
  return html`<dl class="figures">${all.map(
    ({ name, value, about, tone = '' }) =>
      html`<div><dt>${name}</dt><dd class="${tone}">${value}</dd>
<dd class="about">${about}</dd></div>`,
  )}</dl>`
}

/** A bar of two parts of the longest of its list: what was sent, and what was saved. */
export function meter(before: number, after: number, most: number): Html {
  const [sent, saved] = [Math.min(before, after), Math.max(0, before - after)].map(part =>
    ((100 * part) / Math.max(1, most)).toFixed(1),
  )
  return html`<svg class="meter" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
<rect class="paid" width="${sent}" height="10"/><rect class="good" x="${sent}" width="${saved}"
height="10"/></svg>`
}

/** A table whose columns of numbers stand right; on a phone each cell has its column's name. */
export interface Table {
  readonly caption: string
  readonly columns: readonly { readonly name: string; readonly isNumber?: boolean }[]
  readonly rows: readonly (readonly (string | Html)[])[]
  /** Shown instead of a table without rows. */
  readonly none: string
}

export function table({ caption, columns, rows, none }: Table): Html {
  if (rows.length === 0) return html`<p class="none">${none}</p>`
  const kind = (index: number) => (columns[index]?.isNumber === true ? 'number' : '')
  return html`<table>
<caption>${caption}</caption>
<thead><tr>${columns.map(
    ({ name }, index) => html`<th scope="col" class="${kind(index)}">${name}</th>`,
  )}</tr></thead>
<tbody>${rows.map(
    row =>
      html`<tr>${row.map(
        (cell, index) =>
          html`<td class="${kind(index)}" data-name="${columns[index]?.name ?? ''}">${cell}</td>`,
      )}</tr>`,
  )}</tbody></table>`
}
