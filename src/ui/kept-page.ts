import { html } from 'hono/html'
import { visible } from '../core/base/visible.ts'
import type { Html } from './layout.ts'
import { bytes, count, shortened, time } from './show.ts'

/** Characters of a text that the page shows. */
const SHOWN_CHARS = 100_000

/** A text of the store, or a part of it. */
export interface KeptPart {
  /** 64 hex digits. */
  readonly hash: string
  readonly text: string
  /** Bytes of the whole text. */
  readonly bytes: number
  /** Which part; empty for the whole. */
  readonly part: string
  /** Unix milliseconds. */
  readonly created_at: number
  readonly expires_at: number
}

export function keptPage({ hash, text, bytes: size, part, ...times }: KeptPart): Html {
  const { text: shown, rest } = shortened(text, SHOWN_CHARS)
  const which = part === '' ? 'The whole original' : html`<code>${visible(part)}</code> of it`
  return html`<p>${which}, ${bytes(size)} in all, <code>${hash}</code>. Kept since ${time(times.created_at)} UTC, until
${time(times.expires_at)} UTC or longer.</p>
<pre class="text" tabindex="0">${shown}</pre>${
    rest === 0 ? '' : html`<p>${count(rest)} more characters are not shown.</p>`
  }`
}
