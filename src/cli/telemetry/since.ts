const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000 }

/**
 * Unix milliseconds of `7d` or `12h` before `nowMs`, or of an ISO date; `null` for anything else.
 */
export function sinceMs(text: string, nowMs: number): number | null {
  const [, count, unit] = /^(\d{1,6})([dh])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * UNITS[unit]!
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
