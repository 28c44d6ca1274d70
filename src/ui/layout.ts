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
export function layout({ title, place, body, reader, live = false, readAt = null }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Haversack</title>
<link rel="icon" href="/ui/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/ui/style.css">
${live ? html`<script src="/ui/live.js" defer></script>` : ''}
</head>
<body>
<a class="skip" href="#main">To the content</a>
<header class="top">
<a class="brand" href="/ui">Haversack</a>
${reader === undefined ? '' : navigation(place, reader)}
</header>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${live ? html`<p id="news" class="news" role="status"></p>` : ''}
${readAt === null ? '' : staleNote(readAt)}
${body}
</main>
</body>
</html>`
}

function staleNote(readAt: number): Html {
  return html`<p class="bad" role="alert">The ledger cannot be read now. These figures are of
${time(readAt)} UTC.</p>`
}

function navigation(place: string | undefined, { tenant, canLeave }: Reader): Html {
  const links = PLACES.map(([path, name]) =>
    path === place
      ? html`<li><a href="${path}" aria-current="page">${name}</a></li>`
      : html`<li><a href="${path}">${name}</a></li>`,
  )
  return html`<nav aria-label="Pages"><ul>${links}</ul></nav>
<div class="who"><a href="/ui/service" title="Whose figures these are; the service"${
    place === '/ui/service' ? html` aria-current="page"` : ''
  }>${tenant}</a>
${canLeave ? html`<form method="post" action="/ui/logout"><button>Leave</button></form>` : ''}
</div>`
}

/** A figure with its unit, denominator, window and tokenizer below it. */
export interface Figure {
  readonly name: string
  readonly value: string
  readonly about: string
  readonly tone?: 'good' | 'bad'
}

export function figures(all: readonly Figure[]): Html {
  return html`<dl class="figures">${all.map(
    ({ name, value, about, tone = '' }) =>
      html`<div><dt>${name}</dt><dd class="${tone}">${value}</dd>
<dd class="about">${about}</dd></div>`,
  )}</dl>`
}

/** A table whose columns of numbers stand right. */
export interface Table {
  readonly caption: string
  readonly columns: readonly { readonly name: string | Html; readonly isNumber?: boolean }[]
  readonly rows: readonly (readonly (string | Html)[])[]
  /** Shown instead of a table without rows. */
  readonly none: string
}

export function table({ caption, columns, rows, none }: Table): Html {
  if (rows.length === 0) return html`<p class="none">${none}</p>`
  const kind = (index: number) => (columns[index]?.isNumber === true ? 'number' : '')
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(
    ({ name }, index) => html`<th scope="col" class="${kind(index)}">${name}</th>`,
  )}</tr></thead>
<tbody>${rows.map(
    row =>
      html`<tr>${row.map((cell, index) => html`<td class="${kind(index)}">${cell}</td>`)}</tr>`,
  )}</tbody></table></div>`
}
