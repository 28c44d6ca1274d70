import { parseJson } from '../json/parse-json.ts'
import { invalidPart } from './invalid-part.ts'

/** One step of a path; `upTo` is the path's text to its end, for messages. */
export type PathStep = { readonly upTo: string } & (
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'index'; readonly at: number }
  /**
   * As in Python: `end` is not included, negative ones count from the end, `null` is the end
   * itself.
   */
  | { readonly kind: 'slice'; readonly start: number | null; readonly end: number | null }
)

/** Longest path, and most steps in it. */
const MAX_CHARS = 1024
const MAX_STEPS = 32
/** Steps that count from the end: each reads its array a second time. */
const MAX_FROM_END = 4

const DOT_NAME = /\.([^.[\]'"\s]+)/y
const QUOTED = /\[\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*\]/y
const INDEX = /\[\s*(-?\d{1,15})\s*\]/y
const SLICE = /\[\s*(-?\d{1,15})?\s*:\s*(-?\d{1,15})?\s*\]/y

/**
 * Reads a path: `$`, then members (`.name`, `['a name']`, `["a name"]`), indexes (`[0]`, `[-1]`)
 * and slices (`[3:9]`, `[:9]`, `[-3:]`), as in RFC 9535, which has more.
 * @throws AppError `invalid_request`
 */
export function parsePath(text: string): readonly PathStep[] {
  if (text.length > MAX_CHARS) throw invalidPart('path', `is longer than ${MAX_CHARS} characters`)
  if (!text.startsWith('$')) throw invalidPart('path', 'begins with $, for example $.items[3:9]')
  const steps: PathStep[] = []
  let at = 1
  while (at < text.length) {
    const [step, end] = stepAt(text, at)
    steps.push(step)
    at = end
  }
  if (steps.length > MAX_STEPS) throw invalidPart('path', `has more than ${MAX_STEPS} steps`)
  if (steps.filter(countsFromEnd).length > MAX_FROM_END) {
    throw invalidPart('path', `counts from the end more than ${MAX_FROM_END} times`)
  }
  return steps
}

/** Whether a step depends on how many elements there are. */
export function countsFromEnd(step: PathStep): boolean {
  if (step.kind === 'index') return step.at < 0
  return step.kind === 'slice' && ((step.start ?? 0) < 0 || (step.end ?? 0) < 0)
}

function stepAt(text: string, at: number): [step: PathStep, end: number] {
  const found = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)
  }
  const cut = (match: RegExpExecArray) => ({ upTo: text.slice(0, at + match[0].length) })
  const end = (match: RegExpExecArray) => at + match[0].length

  const name = found(DOT_NAME)
  if (name !== null) return [{ kind: 'member', name: name[1]!, ...cut(name) }, end(name)]
  const quoted = found(QUOTED)
  if (quoted !== null) {
    return [{ kind: 'member', name: unquote(quoted[1]!), ...cut(quoted) }, end(quoted)]
  }
  const index = found(INDEX)
  if (index !== null) return [{ kind: 'index', at: Number(index[1]), ...cut(index) }, end(index)]
  const slice = found(SLICE)
  if (slice !== null) {
    const [start, stop] = [bound(slice[1]), bound(slice[2])]
    return [{ kind: 'slice', start, end: stop, ...cut(slice) }, end(slice)]
  }
  throw invalidPart('path', `cannot be read from character ${at + 1}: ${text.slice(at, at + 20)}`)
}

function bound(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits)
}

/** The name between quotes, with JSON's escapes and `\'`. */
function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1)
  const escaped = inner.replace(/\\.|"/gs, part =>
    part === '"' ? '\\"' : part === "\\'" ? "'" : part,
  )
  const name = parseJson(`"${escaped}"`)
  if (!name.ok) throw invalidPart('path', `${quoted} is no string`)
  return name.value as string
}
