import type { Finding } from '../../../../src/core/verify/verify-transcript.ts'
import type { Line, Name } from './recorded.ts'

export type Lines = Record<Name, Line>

/** What is planted, in which answer, and what is found there. */
export type Lie = readonly [
  what: string,
  where: Name,
  family: Finding['family'],
  reason: RegExp,
  plant: (lines: Lines) => void,
]

/** @param plant changes the line of the answer; is given the others too */
export function lie(
  what: string,
  where: Name,
  family: Finding['family'],
  reason: RegExp,
  plant: (line: Line, lines: Lines) => void,
): Lie {
  return [what, where, family, reason, lines => plant(lines[where], lines)]
}

/** Changes a hint, in the content too. */
export function rewrite(
  { answer }: Line,
  from: string | RegExp,
  to: string | ((part: string) => string),
  at = 0,
): void {
  const { text, family } = answer.hints[at] ?? { text: '', family: '' }
  const lie = text.replace(from, typeof to === 'string' ? () => to : to)
  if (lie === text) throw new Error(`${text} has no ${from}`)
  answer.hints = answer.hints.with(at, { family, text: lie })
  answer.content = answer.content
    .split('\n')
    .map(line => (line === text ? lie : line))
    .join('\n')
}

/** Changes the content alone. */
export function replace({ answer }: Line, from: string | RegExp, to: string): void {
  const lie = answer.content.replace(from, to)
  if (lie === answer.content) throw new Error(`there is no ${from}`)
  answer.content = lie
}

/** Fields without one of them. */
export function omit<T extends object, K extends keyof T>(fields: T, key: K): T {
  const rest = { ...fields }
  delete rest[key]
  return rest
}

/** Changes how many parts the answer lists as missing. */
export function recount({ answer }: Line, count: number): void {
  answer.elided = answer.elided.map(each => ({ ...each, count }))
}
