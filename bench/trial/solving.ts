import type { Json } from '../../test/support/plain-readers/json.ts'

/** A call of one of the agent's tools. */
export interface Call {
  readonly tool: string
  readonly args: Readonly<Record<string, string | number>>
}

/** A line of a file that was read, with its number. */
export interface NumberedLine {
  readonly line: number | null
  readonly text: string
}

/** What a solver takes a result for. */
export type Reading = 'json' | 'lines' | 'numbered'

/** A call, or the number of an earlier one whose result is looked at again. */
export interface Step {
  readonly at: Call | number
  readonly as: Reading
  /** What the solver keeps of the result: later steps depend on nothing else. */
  note(reading: unknown): unknown
}

/** A solver: it yields steps, and gets what they note. It knows the prompt, and no raw text. */
export type Solving<Result> = Generator<Step, Result, unknown>

function* step<V, T>(at: Step['at'], as: Reading, note: (reading: V) => T): Solving<T> {
  return (yield { at, as, note: reading => note(reading as V) }) as T
}

/** A result that is JSON. */
export const json = <V, T>(at: Step['at'], note: (value: V) => T) => step(at, 'json', note)

/** A result that is lines of text. */
export const lines = <T>(at: Step['at'], note: (lines: readonly string[]) => T) =>
  step(at, 'lines', note)

/** A result that is numbered lines. */
export const numbered = <T>(at: Step['at'], note: (lines: readonly NumberedLine[]) => T) =>
  step(at, 'numbered', note)

/** The last step of every solver. */
export const answer = (text: string) =>
  lines({ tool: 'answer', args: { answer: text } }, () => null)

/** What a result says to one who got it unchanged. */
export function readRaw(text: string, as: Reading): Json | readonly NumberedLine[] {
  if (as === 'json') return JSON.parse(text) as Json
  const all = text.split('\n')
  if (as === 'lines') return all
  return all.map(line => {
    const [, number, rest] = /^ *(\d+)→(.*)$/.exec(line) ?? []
    return { line: number === undefined ? null : Number(number), text: rest ?? line }
  })
}
