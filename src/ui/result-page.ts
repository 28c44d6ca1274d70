import { html } from 'hono/html'
import { change } from '../book/rows/amounts.ts'
import type { LedgerResult } from '../book/rows/figures.ts'
import { visible } from '../core/base/visible.ts'
import type { ElidedPart, Hint } from '../core/hints/hint.ts'
import { parseHint } from '../core/hints/hint-line.ts'
import type { ShowAnswer } from '../core/operations/show-result.ts'
import { figures, type Html, table } from './layout.ts'
import { reasonOf } from './reasons.ts'
import { afterOf, toolName } from './result-rows.ts'
import { count, time, tone } from './show.ts'

/** Characters of a text that a page shows. */
const SHOWN_CHARS = 100_000

/** A text that the store has, or why there is none to show. */
export type Kept = KeptText | { readonly why: string }

interface KeptText {
  readonly text: string
  readonly shown: ShowAnswer
  /** Whether that is what was sent, and not what would be sent for the text alone. */
  readonly isSent: boolean
}

/**
 * @param earlier the result that this one was sent as a reference to; `null` if there is none
 * @param base of the service's own URLs
 */
export function resultPage(
  result: LedgerResult,
  earlier: number | null,
  kept: Kept,
  base: string,
): Html {
  const { before, referred, encoded, omitted, tokenizer, exact, reason } = result
  const after = afterOf(result)
  return html`<p>${time(result.at)} UTC, by ${result.source}${
    result.conversation === ''
      ? ', without a session'
      : html`, in <a href="/ui/conversations/${result.conversation}">${result.conversation}</a>`
  }. Tool <code>${toolName(result.tool ?? '')}</code>, class
<code>${visible(result.class)}</code>, shape ${result.shape}.${
    earlier === null
      ? ''
      : html` It refers to <a href="/ui/results/${earlier}">an earlier result</a>.`
  }</p>
${figures([
  {
    name: 'Tokens',
    value: change(before, after),
    about: `${count(before)} → ${count(after)} by ${tokenizer}${exact ? '' : ', an estimate'}`,
    tone: tone(before - after),
  },
  {
    name: 'By cause',
    value: `${count(referred)} / ${count(encoded)} / ${count(omitted)}`,
    about: 'tokens by references, by formats, and of parts left out that can be fetched again',
  },
  {
    name: 'Sent as',
    value: result.layer === 'L0' ? 'reference' : result.format,
    about: `layer ${result.layer}${result.view === null ? '' : `, view ${result.view}`}${
      reason === null ? '' : `: ${reasonOf(reason).meaning}`
    }`,
  },
])}
${'why' in kept ? noText(kept.why) : texts(kept, result, base)}`
}

/** A result in its list. */
export function openedResult(id: number, kept: Kept): Html {
  const text = 'why' in kept ? noText(kept.why) : sides(kept.text, kept.shown)
  return html`${text}<p><a href="/ui/results/${id}">How it was chosen</a></p>`
}

function noText(why: string): Html {
  return html`<p class="none">${why}</p>`
}

function texts({ text, shown, isSent }: KeptText, result: LedgerResult, base: string): Html {
  const isOther = result.layer === 'L0' && !isSent
  return html`${
    isOther
      ? html`<p>This result was sent as a reference to an earlier one. Beside its text is what it
would have been without that.</p>`
      : ''
  }${comparison(text, shown)}
${
  result.original === null
    ? ''
    : html`<h2>The same call</h2>
<pre>curl -s ${base}/v1/retrieve/${result.original.slice(0, 24)}</pre>`
}`
}

/** A text and what it becomes, side by side, with the way of each part. */
export function comparison(text: string, shown: ShowAnswer): Html {
  return html`${sides(text, shown)}
${waysOf(shown)}`
}

/** A text and what it becomes, side by side, and whether that decodes to it. */
export function sides(text: string, shown: ShowAnswer): Html {
  const tone = shown.check === 'same' ? 'ok' : shown.check === 'differs' ? 'bad' : ''
  const { before, after, tokenizer, exact, format } = shown
  return html`<div class="sides">
<section aria-label="Before"><h3>What the tool gave <b>${count(before)} tokens</b></h3>
${pre(text)}</section>
<section aria-label="After"><h3>What the model reads <b>${count(after)} tokens</b></h3>
${pre(shown.content)}${
  after < before ? html`<p class="gone">${count(before - after)} tokens not sent</p>` : ''
}</section>
</div>
<p class="proof"><span class="chip ${tone}">${CHECKS[shown.check]}</span> Format ${format}, counted
by ${tokenizer}${exact ? '' : ', an estimate'}.</p>`
}

const CHECKS: Readonly<Record<ShowAnswer['check'], string>> = {
  same: '✓ decoded just now: it gives the original',
  parts: 'Parts are left out on purpose; the rest decodes, and they can be fetched again.',
  unknown: 'It refers to results whose texts are not kept, so it cannot be decoded here.',
  differs: '✗ decoded just now: it does not give the original. Please report this.',
}

function pre(text: string): Html {
  const rest = Math.max(0, text.length - SHOWN_CHARS)
  return html`<pre class="text" tabindex="0">${linkHints(text.slice(0, SHOWN_CHARS))}</pre>${
    rest === 0 ? '' : html`<p>${count(rest)} more characters are not shown.</p>`
  }`
}

function waysOf({ parts, candidates }: ShowAnswer): Html {
  return html`<h2>How it was chosen</h2>
${table({
  caption: 'By part: the way that was chosen, and the tokens of the others',
  columns: [
    { name: 'Part' },
    { name: 'Chosen' },
    { name: 'Tokens', isNumber: true },
    { name: 'Others' },
  ],
  rows: parts.map(({ path, chosen, tokens, options }) => [
    html`<code>${visible(path)}</code>`,
    chosen,
    count(tokens),
    options
      .filter(({ way }) => way !== chosen)
      .map(({ way, tokens: price }) => `${way} ${count(price)}`)
      .join(', '),
  ]),
  none: 'Its format is chosen for the text as a whole.',
})}
${table({
  caption: 'Formats that were tried',
  columns: [{ name: 'Format' }, { name: 'Tokens', isNumber: true }, { name: 'Verdict' }],
  rows: candidates.map(({ format, tokens, verdict }) => [
    format,
    tokens === null ? '–' : count(tokens),
    verdict,
  ]),
  none: 'No format accepts such a text.',
})}`
}

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
