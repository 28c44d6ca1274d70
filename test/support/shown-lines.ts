import { decodeContent } from '../../src/core/pipeline/decode.ts'
import {
  linesWithin,
  withoutEscapes,
  withoutNotes,
} from '../../src/core/pipeline/wrapped-format.ts'
import { unguardLine } from '../../src/core/sessions/lines/guard-line.ts'
import { readReference } from '../../src/core/sessions/lines/reference-line.ts'

/** A line of what an answer represents. */
export interface ShownLine {
  /** As it stands in the answer; `undefined`: a reference stands there. */
  readonly text: string | undefined
}

/** A reference of an answer, with the lines of the earlier text that it represents, from 0. */
export interface SeenReference {
  readonly line: string
  readonly ref: string
  readonly from: number
  readonly end: number
  /** As it names its lines. */
  readonly lines: string
}

/** An answer with references to lines, as a reader goes through it; `null` for any other. */
export function readAnswer(
  { content, format }: { readonly content: string; readonly format: string },
  originals: ReadonlyMap<string, string>,
): { readonly lines: readonly ShownLine[]; readonly references: readonly SeenReference[] } | null {
  const noted = withoutNotes(content, format)
  const { format: bare, kinds } = withoutEscapes(noted.format)
  const within = linesWithin(bare)
  if (within === undefined || kinds !== undefined) return null
  const text = decodeContent(noted.content, within.inner, 1 << 26).content
  const lines: ShownLine[] = []
  const references: SeenReference[] = []
  let current = ''
  for (const line of text.split('\n')) {
    const reference = readReference(line)
    if (reference === null) {
      lines.push({ text: unguardLine(line) })
      continue
    }
    current = reference.ref ?? current
    const names = namesIn(originals.get(current)!)
    const from = names.indexOf(reference.first)
    const end = names.indexOf(reference.last) + 1
    references.push({
      line,
      ref: current,
      from,
      end,
      lines: `${reference.first}-${reference.last}`,
    })
    for (let at = from; at < end; at++) lines.push({ text: undefined })
  }
  return { lines, references }
}

/** What a reader calls each line of a text: the number printed before it, or its place from 1. */
function namesIn(text: string): readonly (number | undefined)[] {
  const lines = text.split('\n')
  const printed = lines.map(line => /^ {0,12}(0|[1-9]\d{0,8})(→|\t|:|-)/.exec(line))
  const numbers = printed.flatMap(match => (match === null ? [] : [Number(match[1])]))
  const signs = new Set(printed.flatMap(match => match?.[2] ?? []))
  const others = lines.filter((line, at) => printed[at] === null && line !== '').length
  const isRising = numbers.every((number, at) => at === 0 || number > numbers[at - 1]!)
  const isNumbered = numbers.length > 0 && isRising && signs.size === 1 && numbers.length >= others
  if (!isNumbered) return lines.map((_, at) => at + 1)
  return printed.map(match => (match === null ? undefined : Number(match[1])))
}

/** The lines of a text of which an answer has references, counted from 0. */
export function hiddenLines(text: string, shown: readonly ShownLine[]): ReadonlySet<number> {
  const own = text.split('\n')
  const fits = (at: number) =>
    own.every((line, k) => {
      const { text: there } = shown[at + k] ?? { text: null }
      return there === undefined || there === line
    })
  for (let at = 0; at + own.length <= shown.length; at++) {
    if (!fits(at)) continue
    return new Set(own.flatMap((_, k) => (shown[at + k]!.text === undefined ? [k] : [])))
  }
  return new Set()
}
