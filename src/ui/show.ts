import { visible } from '../core/base/visible.ts'

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })

/** A count with separators of thousands: `1,234`. */
export function count(value: number): string {
  return WHOLE.format(value)
}

/** A share of a whole with one decimal; a dash without a whole. It may be negative. */
export function percent(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`
}

/** Bytes with a unit: `12.3 KiB`. */
export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let [size, unit] = [value, 0]
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024
    unit++
  }
  return unit === 0 ? `${size} B` : `${size.toFixed(1)} ${units[unit]}`
}

/** A time to the second, in UTC: `2026-11-23 14:05:09`. */
export function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

/** `48 min`, `1 h 12 min`. */
export function duration(ms: number): string {
  const minutes = Math.round(ms / 60_000)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The class of what was saved; a loss is red. */
export function tone(saved: number): 'good' | 'bad' | '' {
  return saved === 0 ? '' : saved < 0 ? 'bad' : 'good'
}

/** The largest amount of a list, which may be long; 0 for an empty one. */
export function largest<Row>(rows: readonly Row[], amountOf: (row: Row) => number): number {
  return rows.reduce((most, row) => Math.max(most, amountOf(row)), 0)
}

/** A visible text of at most so many characters, and how many more there are. */
export function shortened(text: string, most: number): { readonly text: string; rest: number } {
  return { text: visible(text.slice(0, most)), rest: Math.max(0, text.length - most) }
}
