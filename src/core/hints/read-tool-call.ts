import { Reader } from './reader.ts'
import { type Json, type ToolCall, writeToolCall } from './tool-call.ts'

/** What `writeToolCall` wrote; numbers only as doubles keep them. */
export function readToolCall(reader: Reader): ToolCall | null {
  const name = reader.text()
  if (name === undefined || !reader.skip('(')) return null
  const args: [string, Json][] = []
  while (!reader.skip(')')) {
    if (args.length > 0 && !reader.skip(', ')) return null
    const argument = reader.text()
    const value = argument !== undefined && reader.skip('=') ? reader.json() : undefined
    if (argument === undefined || value === undefined) return null
    args.push([argument, value])
  }
  return { name, args: Object.fromEntries(args) }
}

/** A call on a line of its own, as `writeToolCall` wrote it; `null` for anything else. */
export function parseToolCall(text: string): ToolCall | null {
  const reader = new Reader(text)
  const call = readToolCall(reader)
  return call !== null && reader.atEnd && writeToolCall(call) === text ? call : null
}
