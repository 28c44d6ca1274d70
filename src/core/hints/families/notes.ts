import { findJsonFormat } from '../../formats/json/registry.ts'
import { findTextFormat } from '../../formats/text/registry.ts'
import type { FormatHint, MetadataHint, OverflowHint, SearchChainHint } from '../hint.ts'
import { type HintReader, readToolCall } from '../reader.ts'
import { quote, writeShown, writeText, writeWord } from '../text-slot.ts'
import { validToolCall, writeToolCall } from '../tool-call.ts'
import { areCounts, type Family, SHOWN_CHARS } from './family.ts'

/** `> [query: "status=open" | total=247 | returned=20]` */
export const metadata: Family<MetadataHint> = {
  valid: ({ total, returned, sort }) =>
    areCounts(0, total, returned) && sort?.by !== '' && sort?.order !== '',

  write({ query, total, returned, sort }, verbosity) {
    if (verbosity === 'terse') return `${returned} of ${total}`
    const asked =
      query === undefined ? '' : `query: ${writeShown(query, SHOWN_CHARS[verbosity], quote)} | `
    const sorted =
      sort === undefined ? '' : ` | sort=${writeText(sort.by)}:${writeText(sort.order)}`
    return `${asked}total=${total} | returned=${returned}${sorted}`
  },

  read(reader) {
    const shown = reader.count()
    if (shown !== undefined) {
      const total = reader.skip(' of ') ? reader.count() : undefined
      return total === undefined ? null : { family: 'metadata', total, returned: shown }
    }
    const query = reader.skip('query: ') ? reader.shown() : undefined
    reader.skip(' | ')
    const total = reader.skip('total=') ? reader.count() : undefined
    const returned = reader.skip(' | returned=') ? reader.count() : undefined
    const sort = reader.skip(' | sort=') ? readSort(reader) : undefined
    if (total === undefined || returned === undefined || sort === null) return null
    return {
      family: 'metadata',
      ...(query === undefined ? {} : { query }),
      total,
      returned,
      ...(sort === undefined ? {} : { sort }),
    }
  },
}

function readSort(reader: HintReader): { by: string; order: string } | null {
  const by = reader.text()
  const order = reader.skip(':') ? reader.text() : undefined
  return by === undefined || order === undefined ? null : { by, order }
}

/** Represents the arguments of the answered call, except those that follow. */
const SAME_ARGUMENTS = '(…, '

/**
 * `> [+18 more issues. call get_issues(page=2, status="open")]` or `> [+18 more issues. call
 * get_issues(…, page=2)]`
 */
export const overflow: Family<OverflowHint> = {
  valid: ({ omitted, unit, call, changed }) =>
    areCounts(1, omitted) &&
    unit !== '' &&
    validToolCall(call) &&
    (changed === undefined ||
      (changed.length > 0 && changed.every(name => Object.hasOwn(call.args, name)))),

  write(hint, verbosity) {
    const { omitted, unit } = hint
    if (verbosity === 'terse') return `+${omitted}: ${writeChangedCall(hint)}`
    const of = unit === undefined ? '' : ` ${writeWord(unit)}`
    if (verbosity === 'standard') return `+${omitted} more${of}. call ${writeChangedCall(hint)}`
    return `+${omitted} more${of}, omitted here. call ${writeToolCall(hint.call)}`
  },

  read(reader) {
    const omitted = reader.skip('+') ? reader.count() : undefined
    if (omitted === undefined) return null
    let unit: string | undefined
    if (!reader.skip(': ')) {
      if (!reader.skip(' more')) return null
      if (reader.skip(' ')) unit = reader.word()
      reader.skip(', omitted here')
      if (!reader.skip('. call ')) return null
    }
    const read = readToolCall(reader, SAME_ARGUMENTS)
    if (read === null) return null
    const { call, afterOther } = read
    const changed = afterOther ? { changed: Object.keys(call.args) } : {}
    return {
      family: 'overflow',
      omitted,
      ...(unit === undefined ? {} : { unit }),
      call,
      ...changed,
    }
  },
}

/** The call, without the arguments that are the answered call's own. */
function writeChangedCall({ call, changed }: OverflowHint): string {
  if (changed === undefined) return writeToolCall(call)
  const args = Object.entries(call.args).filter(([name]) => changed.includes(name))
  return writeToolCall({ name: call.name, args: Object.fromEntries(args) }, SAME_ARGUMENTS)
}

const FORMAT = /[A-Za-z0-9_]+@\d+(?:;[A-Za-z0-9@_,-]+)?/y
const DECODE_CALL = ' | POST /v1/decode'

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
    return `encoded: ${id}${source}${size}${verbosity === 'verbose' ? DECODE_CALL : ''}`
  },

  read(reader) {
    const id = reader.skip('encoded: ') ? reader.match(FORMAT) : undefined
    if (id === undefined) return null
    const from = reader.skip(' from ') ? reader.text() : undefined
    const rows = reader.skip(' | rows=') ? reader.count() : undefined
    const columns = reader.skip(', cols=') || reader.skip(' | cols=') ? reader.count() : undefined
    reader.skip(DECODE_CALL)
    return {
      family: 'format',
      format: id,
      ...(from === undefined ? {} : { from }),
      ...(rows === undefined ? {} : { rows }),
      ...(columns === undefined ? {} : { columns }),
    }
  },
}

const SEARCHED = ' calls searched'
const THIS_TOO = ', this one too'
const READ = '. read what they found'

/** `> [5 of 7 calls searched. read what they found]` */
export const searchChain: Family<SearchChainHint> = {
  valid: ({ searches, of }) => areCounts(1, searches, of) && searches <= of,

  write({ searches, of }, verbosity) {
    const claim = `${searches} of ${of}${SEARCHED}`
    if (verbosity === 'terse') return claim
    return `${claim}${verbosity === 'verbose' ? THIS_TOO : ''}${READ}`
  },

  read(reader) {
    const searches = reader.count()
    const of = reader.skip(' of ') ? reader.count() : undefined
    if (searches === undefined || of === undefined || !reader.skip(SEARCHED)) return null
    reader.skip(THIS_TOO)
    reader.skip(READ)
    return { family: 'search_chain', searches, of }
  },
}

/** Whether `POST /v1/decode` can decode this `format`. */
function isKnownFormat(format: string): boolean {
  return findJsonFormat(format) !== undefined || findTextFormat(format) !== undefined
}
