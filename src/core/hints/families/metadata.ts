import type { MetadataHint } from '../hint.ts'
import type { Reader } from '../reader.ts'
import { quote, writeShown, writeText } from '../text-slot.ts'
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

function readSort(reader: Reader): { by: string; order: string } | null {
  const by = reader.text()
  const order = reader.skip(':') ? reader.text() : undefined
  return by === undefined || order === undefined ? null : { by, order }
}
