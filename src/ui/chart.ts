import { html } from 'hono/html'
import { type Html, table } from './layout.ts'

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
  /** How amounts are written; absent: as whole numbers. */
  readonly write?: (amount: number) => string
}

const [WIDTH, HEIGHT, GAP] = [720, 140, 2]
const WIDEST_BAR = 40

/** Stacked bars; parts below zero go down. Each bar says its parts when it is pointed at. */
export function chart({ title, unit, bars, write = round }: Chart): Html {
  const up = bars.reduce((most, { parts }) => Math.max(most, sumOf(parts, true)), 0)
  const down = bars.reduce((most, { parts }) => Math.max(most, sumOf(parts, false)), 0)
  if (up + down === 0) return html`<p class="none">${title}: nothing in this window.</p>`
  const scale = HEIGHT / (up + down)
  const zero = up * scale
  const step = Math.min(WIDEST_BAR, WIDTH / bars.length)
  const drawn = bars.map((bar, index) => drawBar(bar, index * step, { step, scale, zero, write }))
  const names = new Map(bars.flatMap(({ parts }) => parts.map(part => [part.name, part.kind])))
  const least = down === 0 ? 0 : -down
  return html`<figure><figcaption>${title} <span class="unit">${unit}</span>
<ul class="legend">${[...names].map(
    ([name, kind]) => html`<li><span class="mark ${kind}"></span>${name}</li>`,
  )}</ul></figcaption>
<div class="axes"><div class="y"><span>${write(up)}</span><span>${write(least)}</span></div>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${title}">
${drawn}<line class="zero" x1="0" x2="${WIDTH}" y1="${zero}" y2="${zero}"></line></svg>
<div class="x">${ends(bars).map(label => html`<span>${label}</span>`)}</div></div>
<details><summary>As a table</summary>${asTable(title, bars, write)}</details>
</figure>`
}

interface BarPosition {
  readonly step: number
  readonly scale: number
  readonly zero: number
  write(amount: number): string
}

function drawBar(
  { label, parts }: Bar,
  x: number,
  { step, scale, zero, write }: BarPosition,
): Html {
  let [top, bottom] = [zero, zero]
  const said = parts.map(({ name, value }) => `${name} ${write(value)}`).join(', ')
  const rects = parts.map(({ kind, value }) => {
    const height = Math.abs(value) * scale
    const y = value >= 0 ? top - height : bottom
    if (value >= 0) top -= height
    else bottom += height
    const width = Math.max(1, step - GAP)
    const [left, upper, wide, high] = [x, y, width, height].map(each => each.toFixed(1))
    return html`<rect class="${kind}" x="${left}" y="${upper}" width="${wide}"
height="${high}"></rect>`
  })
  return html`<g><title>${label}: ${said}</title>${rects}</g>`
}

/** What stands below the first bar, one in the middle, and the last. */
function ends(bars: readonly Bar[]): readonly string[] {
  const places = bars.length < 3 ? [0, bars.length - 1] : [0, bars.length >> 1, bars.length - 1]
  return [...new Set(places)].map(at => bars[at]?.label ?? '')
}

function asTable(title: string, bars: readonly Bar[], write: (amount: number) => string): Html {
  const names = bars[0]?.parts.map(({ name }) => name) ?? []
  return table({
    caption: title,
    columns: [{ name: '' }, ...names.map(name => ({ name, isNumber: true }))],
    rows: bars.map(({ label, parts }) => [label, ...parts.map(({ value }) => write(value))]),
    none: '',
  })
}

function sumOf(parts: readonly BarPart[], isUp: boolean): number {
  return parts.reduce((sum, { value }) => {
    const counts = isUp ? value > 0 : value < 0
    return counts ? sum + Math.abs(value) : sum
  }, 0)
}

function round(value: number): string {
  return Math.round(value).toLocaleString('en')
}
