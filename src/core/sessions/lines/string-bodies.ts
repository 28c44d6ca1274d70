import { readResult } from '../../formats/text/lone-text.ts'
import {
  hasInnerJson,
  hasLongTexts,
  isInnerJson,
  isLongText,
} from '../../formats/text/string-blocks.ts'
import { parseJson } from '../../json/parse-json.ts'
import { ObjectValue, type Value } from '../../json/value.ts'
import type { ArgumentBody } from './argument-bodies.ts'

/** Values of a result that are looked at, how deep, and texts that are found in it. */
const MAX_VALUES = 10_000
const MAX_DEPTH = 16
const MAX_BODIES = 64

/**
 * How a reference names a text in a string of a tool's result: `Bash.stdout`, or by the tool alone
 * if the text is the whole result.
 */
export function stringName(tool: string, path: string): string {
  return path === '' ? tool : `${tool}.${path}`
}

/**
 * The texts in the strings of a JSON result, by their paths (`steps.0.log`): servers and shells
 * wrap files, logs, diffs and JSON so. They are kept like results, because later results repeat
 * their lines, wrapped or bare. In the order of the document; work is bounded.
 */
export function stringBodies(content: string): readonly ArgumentBody[] {
  const first = content.trimStart().charAt(0)
  if (first !== '{' && first !== '[') return []
  if (!hasLongTexts(content) && !hasInnerJson(content)) return []
  const parsed = parseJson(content)
  if (!parsed.ok) return []
  const result = readResult(parsed.value)
  if (result !== undefined) return [{ name: '', text: result.text }].filter(isBody)
  const bodies: ArgumentBody[] = []
  let values = 0
  const visit = (value: Value, name: string, depth: number) => {
    if (++values > MAX_VALUES || bodies.length === MAX_BODIES) return
    if (typeof value === 'string') {
      if (isBody({ text: value })) bodies.push({ name, text: value })
      return
    }
    if (depth === MAX_DEPTH) return
    if (Array.isArray(value)) {
      for (const [at, item] of value.entries()) visit(item, below(name, String(at)), depth + 1)
    } else if (value instanceof ObjectValue) {
      for (const [at, key] of value.keys.entries()) {
        visit(value.values[at]!, below(name, key), depth + 1)
      }
    }
  }
  visit(parsed.value, '', 0)
  return bodies
}

function isBody({ text }: Pick<ArgumentBody, 'text'>): boolean {
  return isLongText(text) || isInnerJson(text)
}

/** Brackets would have to be escaped in a reference, so items are named like members. */
function below(name: string, step: string): string {
  return name === '' ? step : `${name}.${step}`
}
