import { quote, writeText } from './text-slot.ts'

/** A JSON value as `JSON.parse` gives it. */
export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }

/** Levels of lists and objects in an argument that are printed. */
export const MAX_DEPTH = 16

/** A call that an agent can issue as it is printed. */
export interface ToolCall {
  readonly name: string
  readonly args: { readonly [argument: string]: Json }
}

/** A call in one line: `get_issues(page=2, status="open")`. Nothing in it is cut. */
export function writeToolCall(call: ToolCall, opening = '('): string {
  const args = Object.entries(call.args).map(([name, value]) => {
    return `${writeText(name)}=${writeJsonValue(value)}`
  })
  return `${writeText(call.name)}${opening}${args.join(', ')})`
}

/** Whether a call can be printed exactly: a name, finite numbers, not nested too deeply. */
export function validToolCall(call: ToolCall): boolean {
  return (
    call.name !== '' &&
    Object.entries(call.args).every(([name, value]) => name !== '' && isExact(value, MAX_DEPTH))
  )
}

/** Whole numbers that a double may have rounded are not exact. */
function isExact(value: Json, depth: number): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
  }
  if (value === null || typeof value !== 'object') return true
  return depth > 0 && Object.values(value).every(inner => isExact(inner, depth - 1))
}

function writeJsonValue(value: Json): string {
  if (typeof value === 'string') return quote(value)
  if (value === null || typeof value !== 'object') return String(value)
  if (isList(value)) return `[${value.map(writeJsonValue).join(', ')}]`
  const members = Object.entries(value).map(([key, member]) => {
    return `${quote(key)}: ${writeJsonValue(member)}`
  })
  return `{${members.join(', ')}}`
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** Whether arguments, of unknown origin but parsed from JSON, are an object. */
export function isJsonObject(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
