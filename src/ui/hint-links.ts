import { html } from 'hono/html'
import { visible } from '../core/base/visible.ts'
import type { ElidedPart, Hint } from '../core/hints/hint.ts'
import { parseHint } from '../core/hints/hint-line.ts'
import type { Html } from './layout.ts'

const LINES = /^lines (\d+-\d+)$/
/** What every line begins with that can be a hint. */
const OPENING = '> ['

/**
 * A text whose hints are marked, and lead to what they name. Only lines that we would write exactly
 * so are marked, and what a link leads to is looked up for its reader: a text can name nothing of
 * another tenant.
 */
export function linkHints(text: string): Html {
  const pieces: Html[] = []
  let plain: string[] = []
  const flush = () => {
    if (plain.length > 0) pieces.push(html`${visible(plain.join(''))}`)
    plain = []
  }
  for (const line of text.split(/(?<=\n)/)) {
    const bare = line.replace(/\n$/, '')
    const hint = bare.startsWith(OPENING) ? parseHint(bare) : null
    if (hint === null) {
      plain.push(line)
      continue
    }
    flush()
    const ending = line.slice(bare.length)
    pieces.push(html`<span class="hint">${visible(bare)}${linksOf(hint)}</span>${ending}`)
  }
  flush()
  return html`${pieces}`
}

/** A link for each part that a marker names. The sessions of other hints are unknown here. */
function linksOf(hint: Hint): Html[] {
  if (hint.family !== 'elision') return []
  const { hash, parts } = hint
  return parts.map(part => {
    const query = queryOf(part)
    const name = query === '' ? 'the original' : (part.at ?? 'the original')
    return html` <a href="/ui/kept/${hash}${query}">${visible(name)}</a>`
  })
}

function queryOf({ at = '' }: ElidedPart): string {
  const lines = LINES.exec(at)?.[1]
  if (lines !== undefined) return `?${new URLSearchParams({ lines })}`
  return at.startsWith('$') ? `?${new URLSearchParams({ path: at })}` : ''
}
