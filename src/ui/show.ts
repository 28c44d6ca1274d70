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

/** A part of a whole: `1 of 1,234 tokens`. */
export function ofWhole(part: number, whole: number, unit: string): string {
  return `${count(part)} of ${count(whole)} ${unit}`
}

/** A count before and after: `1,234 → 1 tokens`. */
export function beforeAfter(before: number, after: number, unit: string): string {
  return `${count(before)} → ${count(after)} ${unit}`
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

/** A visible text of at most so many characters, and how many more there are. */
export function shortened(text: string, most: number): { readonly text: string; rest: number } {
  return { text: visible(text.slice(0, most)), rest: Math.max(0, text.length - most) }
}
