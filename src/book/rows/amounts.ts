/** `403`, `9,400`, `36 k`, `14.9 M`: a count of tokens in at most seven columns. */
export function tokens(count: number): string {
  const size = Math.abs(count)
  if (size < 9_999.5) return grouped(count)
  if (size < 999_500) return `${grouped(count / 1e3)} k`
  if (size < 999_950_000) return `${(count / 1e6).toFixed(1).replace('-', '−')} M`
  return `${(count / 1e9).toFixed(1).replace('-', '−')} G`
}

export function grouped(count: number): string {
  return Math.round(count).toLocaleString('en-US').replace('-', '−')
}

/** `−19.2 %`; a change to more has a plus. `–`: there was nothing. */
export function change(before: number, after: number): string {
  if (before === 0) return after === 0 ? '–' : '+100 %'
  const percent = (100 * (after - before)) / before
  const text = Math.abs(percent).toFixed(1)
  if (text === '0.0') return '0.0 %'
  return `${percent < 0 ? '−' : '+'}${text} %`
}

/** `$5.09`, `−$0.40`, `3.20 EUR`. Less than a cent has two digits that count. */
export function money(amount: number, currency: string): string {
  const size = Math.abs(amount)
  if (size >= 1e6) return `${money(amount / 1e6, currency)} M`
  const digits = size !== 0 && size < 0.01 ? Math.min(6, 1 - Math.floor(Math.log10(size))) : 2
  const text = size.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
  const sign = amount < 0 && Number(text.replaceAll(',', '')) !== 0 ? '−' : ''
  return currency === 'USD' ? `${sign}$${text}` : `${sign}${text} ${currency}`
}

const DAY_MS = 86_400_000
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** `2026-11-28` for days since 1970. */
export function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

/** `28 Nov`. */
export function shortDay(day: number): string {
  const date = new Date(day * DAY_MS)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`
}

/** The Monday of a day's week; 1970 began with a Thursday. */
export function mondayOf(day: number): number {
  return day - ((((day + 3) % 7) + 7) % 7)
}
