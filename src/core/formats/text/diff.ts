import { hunkEnd } from '../../classify/hunk-end.ts'
import { decodedTooLong, notDecodable } from '../not-decodable.ts'
import {
  type FileHeader,
  gitHeader,
  readGitHeader,
  readShortHeader,
  shortHeader,
  startsShortHeader,
} from './diff-headers.ts'
import { bodyEnd, changeOf, isShortHunk, RAW_HUNK, readShortHunk, shortHunk } from './diff-hunks.ts'
import type { TextFormat, WrittenText } from './text-format.ts'

/**
 * A unified diff in which each path of git stands once, without what the lines of a hunk already
 * state, and without the signs of a file that is new or deleted as a whole. Each line stays a line,
 * so that later results can refer to lines of it.
 */
export const diff: TextFormat = {
  id: 'diff',
  version: 1,
  accepts: text => text.includes('@@ -'),
  encode: text => {
    const written = encode(text)
    return written === null ? [] : [written]
  },
  decode,
}

const SIGNS = { new: '+', deleted: '-' } as const

function encode(text: string): WrittenText | null {
  const lines = text.split('\n')
  const out: string[] = []
  /** By how many lines the hunks of a file moved what comes after them. */
  let shift = 0
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const counts = RAW_HUNK.exec(line)
    if (counts !== null) {
      const end = hunkEnd(lines, at, [counts[2], counts[4]])
      const body = lines.slice(at + 1, end)
      const isWhole = bodyEnd(lines, at + 1) === end
      const short = isWhole ? shortHunk(line, body, shift) : null
      // The decoder would take it for a hunk whose counts were left out.
      if (short === null && isShortHunk(line)) return null
      out.push(short ?? line)
      for (const each of body) out.push(each)
      shift += changeOf(body)
      at = end
      continue
    }
    shift = 0
    const header = readGitHeader(lines, at)
    if (header === null) {
      // The decoder would take it for ours.
      if (startsShortHeader(line) || isShortHunk(line)) return null
      out.push(line)
      at++
      continue
    }
    const short = shortHeader(header)
    const sign = signOf(header)
    const start = at + short.length
    const end = start + (sign?.lines ?? 0)
    const body = lines.slice(start, end)
    // For example with references in place of some lines: the header stays as it is.
    const isWhole = end <= lines.length && body.every(each => each.startsWith(sign!.sign))
    if (!isWhole) {
      out.push(line)
      at++
      continue
    }
    for (const each of short) out.push(each)
    for (const each of body) out.push(each.slice(1))
    at = end
  }
  const content = out.join('\n')
  return content === text ? null : { content, style: '', uses: { git_headers: 1 } }
}

/** What the lines of a whole file begin with, and how many there are; `null` for other files. */
function signOf(header: FileHeader): { readonly sign: string; readonly lines: number } | null {
  if (header.kind !== 'new' && header.kind !== 'deleted') return null
  return { sign: SIGNS[header.kind], lines: header.lines }
}

function decode(content: string, _style: string, maxChars: number): string {
  const lines = content.split('\n')
  const out: string[] = []
  let length = 0
  let shift = 0
  const write = (line: string) => {
    length += line.length + 1
    if (length - 1 > maxChars) throw decodedTooLong(maxChars)
    out.push(line)
  }
  for (let at = 0; at < lines.length; ) {
    const line = lines[at]!
    const isShort = isShortHunk(line)
    const counts = isShort ? null : RAW_HUNK.exec(line)
    if (isShort || counts !== null) {
      const end =
        counts === null ? bodyEnd(lines, at + 1) : hunkEnd(lines, at, [counts[2], counts[4]])
      const body = lines.slice(at + 1, end)
      write(isShort ? readShortHunk(line, body, shift) : line)
      for (const each of body) write(each)
      shift += changeOf(body)
      at = end
      continue
    }
    shift = 0
    const header = readShortHeader(lines, at)
    if (header === null) {
      write(line)
      at++
      continue
    }
    const full = gitHeader(header)
    for (const each of full) write(each)
    at += full.length
    const sign = signOf(header)
    if (sign === null) continue
    const end = at + sign.lines
    if (end > lines.length) {
      throw notDecodable(content, content.length, 'more lines of the file expected')
    }
    for (; at < end; at++) write(sign.sign + lines[at]!)
  }
  return out.join('\n')
}
