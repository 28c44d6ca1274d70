import { matchesAny } from './severity.ts'
import { isTrace } from './stack-traces.ts'

/** Share of the lines that must be data, brackets alone not counted. */
const DATA_SHARE = 0.7
const LEAST_LINES = 5
/** Characters of a line that are looked at. */
const LOOKED_AT = 400

/** Brackets and separators alone say nothing of a text's kind. */
const BRACKETS = /^[\][{}(),;<>]+$/
/** A key, quoted or bare, and what divides it from its value. */
const KEY = /^(?:"[^"]+"|'[^']+'|[\w$@][\w$.@/-]*)\s?(?::|=>|\s{0,40}=)\s/
/** A change of a plan, as Terraform prints it. */
const SIGN = /^[-+~] /
/** Values: a text in quotes, a number or a date, a constant, a list or object, a name. */
const QUOTED = /^(?:"[^"]|'[^']|`[^`])/
const VALUES = [
  /^[-+]?\d[\w.:+-]*(?:,|$)/,
  /^(?:true|false|null|undefined|None|True|False|nil|NaN|Infinity|""|'')(?:,|$)/,
  /^(?:\w+(?:\(\d+\))? )?[[{<]/,
  /^\([^()]*\)$/,
]
const REFERENCE = /^[A-Za-z_][\w.*-]*(?:,|$)/
const EMPTY = /[:=]\s?(?:null|undefined|None|nil|false|False|0|""|''|\[\]|\{\})[,;]?$/
/** A block with a name, as in the texts of Protocol Buffers and Terraform. */
const BLOCK = /^[\w$.-]+(?: "[^"]*")* ?\{$/
/** Ends and parts of statements, which data does not have. */
const STATEMENT =
  /;$|\)\s?\{$|=> ?\{?$|^(?:return|if|for|while|else|import|export|func|def|class)\b/

/**
 * Whether a text is data that is written with brackets and is no whole JSON: cut or numbered JSON,
 * dumps of objects, plans, texts of Protocol Buffers. It has lines like source code, but no bodies
 * that could go unread.
 */
export function isDataText(lines: readonly string[]): boolean {
  let data = 0
  let others = 0
  for (const line of lines) {
    const text = withoutSign(line)
    if (text === '' || BRACKETS.test(text) || BLOCK.test(text)) continue
    if (isData(text)) data++
    else if (!isTrace(line)) others++
  }
  return data >= LEAST_LINES && data >= (data + others) * DATA_SHARE
}

/** Whether a line is a member without a value, as `"error": null` is, which reports no failure. */
export function isEmptyMember(line: string): boolean {
  return EMPTY.test(line.slice(-LOOKED_AT).trim())
}

/** Whether a line of source code is a member with a literal text as its value. */
export function isLiteralMember(line: string): boolean {
  const text = withoutSign(line)
  const key = KEY.exec(text)?.[0].length ?? 0
  return key > 0 && !STATEMENT.test(text) && QUOTED.test(text.slice(key).trimStart())
}

function withoutSign(line: string): string {
  const text = line.slice(0, LOOKED_AT).trim()
  return SIGN.test(text) ? text.slice(2).trimStart() : text
}

function isData(text: string): boolean {
  if (STATEMENT.test(text)) return false
  const key = KEY.exec(text)?.[0].length ?? 0
  const value = text.slice(key).trimStart()
  if (QUOTED.test(value) || matchesAny(value, VALUES)) return true
  return key > 0 && REFERENCE.test(value)
}
