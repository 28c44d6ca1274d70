import type { FormatHint } from '../hint.ts'
import { isKnownFormat } from '../known-format.ts'
import { writeText } from '../text-slot.ts'
import { areCounts, type Family } from './family.ts'

const FORMAT = /[A-Za-z0-9_]+@\d+(?:;[A-Za-z0-9@_,-]+)?/y
const REDEEM = ' | POST /v1/decode'

/** `> [encoded: csv@1 from json | rows=18, cols=6]` */
export const format: Family<FormatHint> = {
  valid: hint =>
    isKnownFormat(hint.format) && hint.from !== '' && areCounts(0, hint.rows, hint.columns),

  write({ format: id, from, rows, columns }, verbosity) {
    if (verbosity === 'terse') return `encoded: ${id}`
    const source = from === undefined ? '' : ` from ${writeText(from)}`
    const sizes = [
      ...(rows === undefined ? [] : [`rows=${rows}`]),
      ...(columns === undefined ? [] : [`cols=${columns}`]),
    ]
    const size = sizes.length === 0 ? '' : ` | ${sizes.join(', ')}`
    return `encoded: ${id}${source}${size}${verbosity === 'verbose' ? REDEEM : ''}`
  },

  read(reader) {
    const id = reader.skip('encoded: ') ? reader.match(FORMAT) : undefined
    if (id === undefined) return null
    const from = reader.skip(' from ') ? reader.text() : undefined
    const rows = reader.skip(' | rows=') ? reader.count() : undefined
    const columns = reader.skip(', cols=') || reader.skip(' | cols=') ? reader.count() : undefined
    reader.skip(REDEEM)
    return {
      family: 'format',
      format: id,
      ...(from === undefined ? {} : { from }),
      ...(rows === undefined ? {} : { rows }),
      ...(columns === undefined ? {} : { columns }),
    }
  },
}
