import { Reader } from './reader.ts'
import { type Json, type ToolCall, writeToolCall } from './tool-call.ts'

/**
 * Reads what `writeToolCall` wrote; numbers only as doubles keep them.
 * @param other another opening that the call may have, tried first; `afterOther` is true if the
 * call has it
 */
export function readToolCall(
  reader: Reader,
  other?: string,
): { call: ToolCall; afterOther: boolean } | null {
  const name = reader.text()
  const afterOther = other !== undefined && reader.skip(other)
  if (name === undefined || !(afterOther || reader.skip('('))) return null
  const args: [string, Json][] = []
  while (!reader.skip(')')) {
    if (args.length > 0 && !reader.skip(', ')) return null
    const argument = reader.text()
    const value = argument !== undefined && reader.skip('=') ? reader.json() : undefined
    if (argument === undefined || value === undefined) return null
    args.push([argument, value])
  }
  return { call: { name, args: Object.fromEntries(args) }, afterOther }
}

/** A call on a line of its own, as `writeToolCall` wrote it; `null` for anything else. */
export function parseToolCall(text: string): ToolCall | null {
  const reader = new Reader(text)
  const call = readToolCall(reader)?.call ?? null
  return call !== null && reader.atEnd && writeToolCall(call) === text ? call : null
}
