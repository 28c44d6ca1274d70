import { isUtf8 } from 'node:buffer'
import { chunksOf } from './chunks.ts'

/** Why a line is skipped. */
export const LINE_FAULTS = ['not_utf8', 'not_json', 'not_an_object', 'too_long', 'torn'] as const
export type LineFault = (typeof LINE_FAULTS)[number]

export type JsonLine =
  | { readonly ok: true; readonly value: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly fault: LineFault }

/** Longer lines are not read: no tool gives an agent so much. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
const LINE_FEED = 0x0a
const EMPTY = Buffer.alloc(0)
/** Some editors put it before a text. */
const BYTE_ORDER_MARK = '\uFEFF'

/**
 * The lines of a file of JSON objects, parsed; blank ones are passed over. In memory for one chunk
 * and the longest line. Blocks while it reads. Every line is parsed, also lines without results. So
 * malformed lines are counted. Encoding the results takes far longer than parsing everything.
 * @throws UnreadableLog
 */
export function* readLines(path: string, maxLineBytes = MAX_LINE_BYTES): Generator<JsonLine> {
  const parts: Buffer[] = []
  let partBytes = 0
  for (const chunk of chunksOf(path)) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield* take(chunk.subarray(start, end), false)
      start = end + 1
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }
  yield* take(EMPTY, true)

  function keep(part: Buffer): void {
    partBytes += part.length
    // Lines that are too long are only counted.
    if (partBytes > maxLineBytes) parts.length = 0
    else parts.push(part)
  }

  function* take(last: Buffer, isEnd: boolean): Generator<JsonLine> {
    const bytes = partBytes + last.length
    const line = parts.length === 0 ? last : Buffer.concat([...parts, last])
    parts.length = 0
    partBytes = 0
    if (bytes > maxLineBytes) yield { ok: false, fault: 'too_long' }
    else if (!isBlank(line)) yield parseLine(line, isEnd)
  }
}

function parseLine(line: Buffer, isEnd: boolean): JsonLine {
  if (!isUtf8(line)) return { ok: false, fault: isEnd ? 'torn' : 'not_utf8' }
  try {
    const text = line.toString('utf8')
    const value: unknown = JSON.parse(text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { ok: false, fault: 'not_an_object' }
    }
    return { ok: true, value: value as Record<string, unknown> }
  } catch {
    // The line that a process was writing when it ended has no line feed.
    return { ok: false, fault: isEnd ? 'torn' : 'not_json' }
  }
}

function isBlank(line: Buffer): boolean {
  for (const byte of line) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false
  }
  return true
}
