import { jsonCompact } from '../formats/json/json-compact.ts'
import { formatId } from '../formats/json/json-format.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { parseJson } from '../json/parse-json.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import type { LayerInput } from './layer.ts'

const SENT_AS_JSON: ReadonlySet<string> = new Set([
  jsonCompact.id,
  formatId(jsonCompact),
  PASSTHROUGH,
])
/** The member that has the marker; with more of `_` if the object has one of that name. */
const MEMBER = '_elided'

/** Whether the request allows JSON only. */
export function isJsonAsked({ request: { formats }, value }: LayerInput): boolean {
  return (
    value !== undefined &&
    formats !== undefined &&
    formats.length > 0 &&
    formats.every(format => SENT_AS_JSON.has(format))
  )
}

/**
 * Compact JSON of the kept part of a list or object, with a marker as its last item or member.
 * @param whole before anything was left out
 * @param json of what is kept, without white space around it
 */
export function markJson(whole: Value | undefined, json: string, marker: string): string {
  const separator = json.length > 2 ? ',' : ''
  const inner = `${json.slice(0, -1)}${separator}`
  if (!(whole instanceof ObjectValue)) return `${inner}${JSON.stringify(marker)}]`
  let name = MEMBER
  while (whole.keys.includes(name)) name = `_${name}`
  return `${inner}${JSON.stringify(name)}:${JSON.stringify(marker)}}`
}

/** Prefix of a marker as a JSON string. Inside another string, its quotes would be escaped. */
const OPENING = '"> ['

/** The text that `markJson` wrote as the last item or member; `null` if there is none. */
export function markerInJson(text: string): string | null {
  const start = text.lastIndexOf(OPENING)
  if (start === -1 || !/"[\]}]$/.test(text.slice(-2))) return null
  const parsed = parseJson(text.slice(start, -1))
  return parsed.ok && typeof parsed.value === 'string' ? parsed.value : null
}

/**
 * The text that `markJson` wrote, without the marker. Returns `null` if that is not its last item
 * or member.
 */
export function unmarkJson(text: string, marker: string): string | null {
  const [item, close] = [JSON.stringify(marker), text.slice(-1)]
  if (!text.endsWith(`${item}${close}`)) return null
  const inner = text.slice(0, -item.length - 1)
  if (close === ']') return `${inner.replace(/,$/, '')}]`
  const name = inner.lastIndexOf('"_')
  return close === '}' && name !== -1 ? `${inner.slice(0, name).replace(/,$/, '')}}` : null
}
