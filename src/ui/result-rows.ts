import { html } from 'hono/html'
import { change, tokens } from '../book/rows/amounts.ts'
import type { LedgerResult } from '../book/rows/figures.ts'
import { visible } from '../core/base/visible.ts'
import { type Html, meter } from './layout.ts'
import { reasonOf } from './reasons.ts'
import { count, largest, time, tone } from './show.ts'

/** A result that is open in its list. */
export interface OpenResult {
  readonly id: number
  readonly shown: Html
}

/**
 * Results as rows that lead to what opens them: their own pages, or their place in a list.
 * @param pathOf what a row leads to
 */
export function resultRows(
  results: readonly LedgerResult[],
  pathOf: (result: LedgerResult, isOpen: boolean) => string,
  open: OpenResult | null = null,
): Html {
  if (results.length === 0) return html`<p class="none">No result came yet.</p>`
  const most = largest(results, ({ before }) => before)
  return html`<ul class="rows res">${results.map(row => {
    const { id, at, tool, shape, before } = row
    const after = afterOf(row)
    const isOpen = open?.id === id
    return html`<li id="r${id}"${isOpen ? html` aria-current="true"` : ''}>
<a class="name" href="${pathOf(row, isOpen)}" title="${time(at)} UTC">${toolName(tool ?? '')}
<span class="meta">${shape}</span></a>${chip(row)}${meter(before, after, most)}
<span class="meta tok">${tokens(before)} → ${tokens(after)}</span>
<span class="num ${tone(before - after)}">${change(before, after)}</span>
${isOpen ? html`<div class="open">${open.shown}</div>` : ''}</li>`
  })}</ul>`
}

/** How it was sent. */
function chip({ layer, format, omitted, reason }: LedgerResult): Html {
  if (reason !== null) {
    return html`<span class="chip" title="${reasonOf(reason).meaning}">unchanged</span>`
  }
  if (omitted > 0) return html`<span class="chip cut">parts left out</span>`
  if (layer === 'L0') return html`<span class="chip ref">reference</span>`
  return html`<span class="chip">${format}</span>`
}

/** Tokens that were sent. */
export function afterOf({ before, referred, encoded, omitted }: LedgerResult): number {
  return before - referred - encoded - omitted
}

export function toolName(tool: string): string {
  return tool === '' ? '(not named)' : visible(tool)
}

/** `1 result`, `2 results`. */
export function plural(number: number, thing: string): string {
  return `${count(number)} ${thing}${number === 1 ? '' : 's'}`
}
