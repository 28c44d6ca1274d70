import { applyView, type ShownValue } from '../reduce/views/apply-view.ts'
import { pickView, type View } from '../reduce/views/compile-views.ts'
import type { ViewLevel } from '../reduce/views/level.ts'
import { keysOf, namedBy } from '../reduce/views/view-facts.ts'
import { endpointClass } from '../telemetry/endpoint-class.ts'
import type { LayerInput } from './layer.ts'

/** What is shown of a result, and by which view. */
export interface ShownByView extends ShownValue {
  readonly view: string
}

/** Smaller results have no view: its marker would take what it saves. */
const LEAST_BYTES = 512

/** What the view for a result shows at a level; `null` if there is none, or nothing goes. */
export function viewOf(
  { request: { tool, args }, content, value, shape: { shape } }: LayerInput,
  level: ViewLevel,
  views: readonly View[],
): ShownByView | null {
  if (level === 'full' || views.length === 0 || content.length < LEAST_BYTES) return null
  if (typeof value !== 'object' || value === null) return null
  let keys: ReadonlySet<string> | undefined
  const place = { tool, shape, endpointClass: () => endpointClass(tool, args) }
  const view = pickView(views, place, () => {
    keys ??= keysOf(value)
    return keys
  })
  if (view === null) return null
  const shown = applyView(value, view.rulesAt(level), namedBy(args))
  return shown && { ...shown, view: view.name }
}

/**
 * The names of the fields that went, the most frequent ones first, in so many characters. Lists
 * that are only counted come first, with their items: `imports ×12 (57 items)`.
 */
export function wordsOf(
  { names, items }: Pick<ShownByView, 'names' | 'items'>,
  limit: number,
): string {
  const isCounted = (name: string) => (items.has(name) ? 1 : 0)
  const sorted = [...names].sort(([a, m], [b, n]) => isCounted(b) - isCounted(a) || n - m)
  let words = ''
  for (const [at, [name, count]] of sorted.entries()) {
    const lengths = items.has(name) ? ` (${items.get(name)} items)` : ''
    const each = `${name}${count === 1 ? '' : ` ×${count}`}${lengths}`
    const longer = words === '' ? each : `${words}, ${each}`
    if (at > 0 && longer.length > limit) return `${words} +${sorted.length - at}`
    words = longer
  }
  return words
}
