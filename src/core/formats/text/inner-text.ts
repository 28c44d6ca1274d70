import { attempt } from '../../base/attempt.ts'
import { classify, type ShapeReport } from '../../classify/classify.ts'
import type { Uses } from '../../reading/constructs.ts'
import { formatId } from '../json/json-format.ts'
import { type TextFormat, type TextTools, textFormat, type WrittenText } from './text-format.ts'

/** A part of a text, written in a text format. */
export interface InnerText {
  readonly content: string
  /** As an answer has it, with the style. */
  readonly format: string
  readonly uses?: Uses
}

/** The text in each of the formats that write it, and whether each gives it back. */
export function innerTexts(
  text: string,
  formats: readonly TextFormat[],
  tools: TextTools,
): (InnerText & { restores(): boolean })[] {
  const shape: ShapeReport = classify(text, undefined)
  return formats.flatMap(format => {
    if (format.json === true) return []
    const id = formatId(format)
    const write = () => {
      if (!format.accepts(text, shape)) return NOTHING
      if (tools.work?.take(format.steps?.(text) ?? 0) === false) return NOTHING
      return format.encode(text, tools)
    }
    return attempt(id, write, () => NOTHING).map(({ content, style, uses }) => ({
      content,
      format: textFormat(id, style),
      ...(uses === undefined ? {} : { uses }),
      restores: () =>
        attempt(
          id,
          () => restores(format, content, style, text),
          () => false,
        ),
    }))
  })
}

const NOTHING: readonly WrittenText[] = []

/** The gate only knows the whole: one part that differs must not cost all others their place. */
function restores(format: TextFormat, content: string, style: string, text: string): boolean {
  return format.restores === undefined
    ? format.decode(content, style, text.length) === text
    : format.restores(content, style, text.length, text)
}
