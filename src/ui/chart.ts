import { html } from 'hono/html'
import { type Html, table } from './layout.ts'
import { largest } from './show.ts'

/** A part of a bar: a class of the stylesheet gives its colour. */
export interface BarPart {
  readonly name: string
  readonly kind: string
  readonly value: number
}

export interface Bar {
  readonly label: string
  readonly parts: readonly BarPart[]
}

export interface Chart {
  readonly title: string
  readonly unit: string
  readonly bars: readonly Bar[]
  /** How amounts are written. */
  readonly write: (amount: number) => string
  /** Numbered lines at bars, by the places of the bars; a list beside the chart says what of. */
  readonly marks?: readonly number[]
}

const WIDEST_PERCENT = 6
const STEPS = 4
const LABELS = 5

/** Stacked bars over axes, and as a table. Each bar says its parts when it is pointed at. */
export function chart({ title, unit, bars, write, marks = [] }: Chart): Html {
  const most = largest(bars, ({ parts }) => heightOf(parts))
  if (!(most > 0)) return html`<p class="none">${title}: nothing in this window.</p>`
  const step = roundStep(most / STEPS)
  const width = Math.min(WIDEST_PERCENT, 100 / bars.length)
  const ticks = Array.from({ length: STEPS + 1 }, (_, at) => at)
  const names = new Map(bars.flatMap(({ parts }) => parts.map(part => [part.name, part.kind])))
  const middle = (at: number) => percent((at + 0.5) * width)
  const scale = { width, most: STEPS * step, write }
  const drawn = bars.map((bar, at) => drawBar(bar, at * width, scale))
  return html`<figure><figcaption><b>${title}</b> <span class="unit">${unit}</span>
<ul class="legend">${[...names].map(
    ([name, kind]) => html`<li><span class="mark ${kind}"></span>${name}</li>`,
  )}</ul></figcaption>
<div class="axes"><div class="y" aria-hidden="true">${ticks
    .toReversed()
    .map(at => html`<span>${write(at * step)}</span>`)}</div>
<svg role="img" aria-label="${title}">${ticks.map(at => {
    const y = percent((100 * at) / STEPS)
    return html`<line x1="0" x2="100%" y1="${y}" y2="${y}"/>`
  })}${drawn}${marks.map(
    (at, index) => html`<line class="flag" x1="${middle(at)}" x2="${middle(at)}" y1="-4" y2="100%"/>
<text x="${middle(at)}" y="-7">${index + 1}</text>`,
  )}</svg>
<svg class="x" aria-hidden="true">${labelled(bars.length).map(
    (at, index, all) =>
      html`<text class="${index % 2 === 1 ? 'odd' : ''}" x="${middle(at)}" y="14"${anchor(
        (at + 0.5) * width,
        all.length,
      )}>${bars[at]?.label}</text>`,
  )}</svg></div>
<details><summary>As a table</summary>${asTable(title, bars, write)}</details>
</figure>`
}

interface BarPosition {
  readonly width: number
  readonly most: number
  write(amount: number): string
}

function drawBar({ label, parts }: Bar, x: number, { width, most, write }: BarPosition): Html {
  let top = 100
  const said = parts.map(({ name, value }) => `${name} ${write(value)}`).join(', ')
  const rects = parts
    .filter(({ value }) => value > 0)
    .map(({ kind, value }) => {
      const height = (100 * value) / most
      top -= height
      return html`<rect class="${kind}" x="${percent(x + width * 0.08)}" y="${percent(top)}"
width="${percent(width * 0.84)}" height="${percent(height)}"/>`
    })
  return html`<g><title>${label}: ${said}</title>${rects}</g>`
}

/** The places of the bars whose labels there is room for. */
function labelled(count: number): readonly number[] {
  const all = Array.from({ length: LABELS }, (_, at) => (at * (count - 1)) / (LABELS - 1))
  return [...new Set(all.map(Math.round))]
}

/** Labels at the ends stay within the chart. */
function anchor(at: number, count: number): Html | string {
  if (count === 1 || at < 5) return html` text-anchor="start"`
  return at > 95 ? html` text-anchor="end"` : ''
}

/** The next of 1, 2, 2.5, 5 and 10 times a power of ten. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step))
  return [1, 2, 2.5, 5, 10].map(each => each * power).find(each => each >= step * 0.9999) ?? step
}

function percent(part: number): string {
  return `${part.toFixed(2)}%`
}

function asTable(title: string, bars: readonly Bar[], write: (amount: number) => string): Html {
  const names = bars[0]?.parts.map(({ name }) => name) ?? []
  return table({
    caption: title,
    columns: [{ name: 'Of' }, ...names.map(name => ({ name, isNumber: true }))],
    rows: bars.map(({ label, parts }) => [label, ...parts.map(({ value }) => write(value))]),
    none: '',
  })
}

function heightOf(parts: readonly BarPart[]): number {
  return parts.reduce((sum, { value }) => sum + Math.max(0, value), 0)
}
