import { parseHint } from '../hints/hint-line.ts'
import { findLookAlikes } from '../hints/look-alikes.ts'
import { ObjectValue, type Value } from '../json/value.ts'
import { isTrimmed } from '../pipeline/wrapped-format.ts'
import { readReference } from '../sessions/lines/reference-line.ts'
import { bodyOf } from './answer-body.ts'
import type { CheckedAnswer, Fault } from './checked-answer.ts'

/** Characters of an imitation that are shown. */
const SHOWN_CHARS = 120
const ESCAPE = '\\'

/**
 * Finds texts of an answer that a reader could take for a hint of ours, and that are neither listed
 * nor escaped.
 */
export function checkUnlisted({ answer }: CheckedAnswer): Fault[] {
  const listed = new Set(answer.hints.map(({ text }) => text))
  const body = bodyOf(answer)
  // Other findings report what is wrong with it.
  if (body === null) return []
  // The rest after elision has marks of ours in it.
  const places = findLookAlikes(body.content, isTrimmed(answer.format) ? 'hints' : 'all')
  return places.flatMap(at => {
    const line = lineAt(body.content, at)
    if (body.content[at - 1] === ESCAPE) return []
    const isLine = at === 0 || body.content[at - 1] === '\n'
    if (isLine && listed.has(line)) return []
    const family = isLine ? familyOf(line) : 'answer'
    const reason = 'the content has this hint, but the answer does not list it'
    return [{ family, reason, hint: line.slice(0, SHOWN_CHARS) }]
  })
}

/** Texts of a tool's result that imitate hints of ours, cut to the shown length. */
export function imitationsIn({ request, value }: CheckedAnswer): readonly string[] {
  const texts = value === undefined ? [request.content] : textsIn(value)
  return texts.flatMap(text =>
    findLookAlikes(text).map(at => lineAt(text, at).slice(0, SHOWN_CHARS)),
  )
}

function familyOf(line: string): Fault['family'] {
  return parseHint(line)?.family ?? (readReference(line) === null ? 'answer' : 'lines')
}

function lineAt(text: string, start: number): string {
  const end = text.indexOf('\n', start)
  return text.slice(start, end === -1 ? text.length : end)
}

/** Every key and text in a value. */
function textsIn(value: Value): string[] {
  const texts: string[] = []
  const pending: Value[] = [value]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') texts.push(next)
    else if (next instanceof ObjectValue) {
      for (const key of next.keys) texts.push(key)
      for (const inner of next.values) pending.push(inner)
    } else if (Array.isArray(next)) for (const inner of next) pending.push(inner)
  }
  return texts
}
