import { isUtf8 } from 'node:buffer'
import { AppError } from '../base/errors.ts'
import { passOverString } from '../json/bytes/json-tokens.ts'

/** Limits of an envelope, checked before any parser sees it. */
export interface EnvelopeLimits {
  /** Containers inside one another. */
  readonly maxDepth: number
  /**
   * Values in all, with a container counting once more for itself; a string of any length is one.
   */
  readonly maxValues: number
}

/** One pass over JSON bytes, outside strings only; syntax is left to the parser. */
export function guardJson(bytes: Uint8Array, limits: EnvelopeLimits): void {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    // Literals make this a jump table; with named codes it takes twice the time.
    switch (bytes[at]) {
      case 0x22: {
        const end = passOverString(bytes, at)
        // The parser reports a string that has no end.
        if (end === -1) return
        at = end - 1
        break
      }
      case 0x5b: // [
      case 0x7b: // {
        values++
        if (++depth > limits.maxDepth) throw tooDeep(limits)
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth--
        break
      case 0x2c: // ,
        if (++values > limits.maxValues) throw tooMany(limits)
        break
    }
  }
}

/**
 * The same bounds on a value that is parsed already; level by level, so that it does not recurse.
 */
export function guardValue(value: unknown, limits: EnvelopeLimits): void {
  let level = [value].filter(isContainer)
  let values = 1
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > limits.maxDepth) throw tooDeep(limits)
    const next: object[] = []
    for (const container of level) {
      const inner: unknown[] = Object.values(container)
      values += inner.length + 1
      if (values > limits.maxValues) throw tooMany(limits)
      for (const each of inner) if (isContainer(each)) next.push(each)
    }
    level = next
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** One pass over MessagePack bytes: every announced length must fit the bytes that are left. */
export function guardMsgpack(bytes: Uint8Array, limits: EnvelopeLimits): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const open: number[] = []
  let at = 0
  let values = 0
  let left = 1
  while (left > 0 || open.length > 0) {
    if (left === 0) {
      left = open.pop() as number
      continue
    }
    left--
    if (++values > limits.maxValues) throw tooMany(limits)
    if (at >= bytes.length) throw truncated()
    const item = readHead(view, at)
    if (item.next > bytes.length) throw truncated()
    if (item.text > 0 && !isUtf8(bytes.subarray(item.next - item.text, item.next))) {
      throw new AppError('invalid_request', `the string at byte ${at} is not valid UTF-8`)
    }
    at = item.next
    if (item.children > 0) {
      open.push(left)
      if (open.length > limits.maxDepth) throw tooDeep(limits)
      left = item.children
    }
  }
  if (at !== bytes.length) {
    throw new AppError('invalid_request', `MessagePack value ends at byte ${at} of ${bytes.length}`)
  }
}

interface Head {
  /** Offset after the head and, for strings and numbers, after the payload. */
  readonly next: number
  /** Values inside, keys included. */
  readonly children: number
  /** Bytes of text at the end of the payload; the parser would replace invalid ones silently. */
  readonly text: number
}

const leaf = (next: number): Head => ({ next, children: 0, text: 0 })
const text = (start: number, length: number): Head => ({
  next: start + length,
  children: 0,
  text: length,
})
const container = (next: number, children: number): Head => ({ next, children, text: 0 })

/** Reads the head of the value at `at` (MessagePack specification, "Formats"). */
function readHead(view: DataView, at: number): Head {
  const tag = view.getUint8(at)
  if (tag <= 0x7f || tag >= 0xe0) return leaf(at + 1)
  if (tag <= 0x8f) return container(at + 1, 2 * (tag & 0x0f))
  if (tag <= 0x9f) return container(at + 1, tag & 0x0f)
  if (tag <= 0xbf) return text(at + 1, tag & 0x1f)
  switch (tag) {
    case 0xc0: // nil
    case 0xc2: // false
    case 0xc3: // true
      return leaf(at + 1)
    case 0xc4: // bin 8
      return leaf(at + 2 + read(view, at + 1, 1))
    case 0xc5: // bin 16
      return leaf(at + 3 + read(view, at + 1, 2))
    case 0xc6: // bin 32
      return leaf(at + 5 + read(view, at + 1, 4))
    case 0xd9: // str 8
      return text(at + 2, read(view, at + 1, 1))
    case 0xda: // str 16
      return text(at + 3, read(view, at + 1, 2))
    case 0xdb: // str 32
      return text(at + 5, read(view, at + 1, 4))
    case 0xcc: // uint 8
    case 0xd0: // int 8
      return leaf(at + 2)
    case 0xcd: // uint 16
    case 0xd1: // int 16
      return leaf(at + 3)
    case 0xca: // float 32
    case 0xce: // uint 32
    case 0xd2: // int 32
      return leaf(at + 5)
    case 0xcb: // float 64
    case 0xcf: // uint 64
    case 0xd3: // int 64
      return leaf(at + 9)
    case 0xdc: // array 16
      return container(at + 3, read(view, at + 1, 2))
    case 0xdd: // array 32
      return container(at + 5, read(view, at + 1, 4))
    case 0xde: // map 16
      return container(at + 3, 2 * read(view, at + 1, 2))
    case 0xdf: // map 32
      return container(at + 5, 2 * read(view, at + 1, 4))
    default:
      throw new AppError('invalid_request', `MessagePack tag 0x${tag.toString(16)} is not accepted`)
  }
}

function read(view: DataView, at: number, size: 1 | 2 | 4): number {
  if (at + size > view.byteLength) throw truncated()
  if (size === 1) return view.getUint8(at)
  return size === 2 ? view.getUint16(at) : view.getUint32(at)
}

function truncated(): AppError {
  return new AppError('invalid_request', 'the MessagePack body is truncated')
}

function tooDeep(limits: EnvelopeLimits): AppError {
  return new AppError('invalid_request', `the body nests deeper than ${limits.maxDepth} levels`)
}

function tooMany(limits: EnvelopeLimits): AppError {
  return new AppError('invalid_request', `the body holds more than ${limits.maxValues} values`)
}
