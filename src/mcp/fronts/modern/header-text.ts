import { isUtf8 } from 'node:buffer'

/** The value of a header by its name in lower case; `null` if there is none. */
export type ReadHeader = (name: string) => string | null

const OPEN = '=?base64?'
const CLOSE = '?='

/**
 * The text that a header holds: its value without the white space around it, or what the wrapper
 * `=?base64?…?=` holds.
 * @returns `null` if the wrapper holds no canonical Base64 of UTF-8
 */
export function headerText(value: string): string | null {
  const text = value.trim()
  const isWrapped =
    text.length >= OPEN.length + CLOSE.length && text.startsWith(OPEN) && text.endsWith(CLOSE)
  if (!isWrapped) return text
  const base64 = text.slice(OPEN.length, -CLOSE.length)
  const bytes = Buffer.from(base64, 'base64')
  return bytes.toString('base64') === base64 && isUtf8(bytes) ? bytes.toString() : null
}
