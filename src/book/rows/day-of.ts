const DAY_MS = 86_400_000
const MINUTE_MS = 60_000

/** Days since 1970 in the calendar of this machine, in which its user reads them. */
export function dayOf(at: number): number {
  return Math.floor((at - new Date(at).getTimezoneOffset() * MINUTE_MS) / DAY_MS)
}
