/** From the least to the most serious. */
const LEVELS: readonly unknown[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
]

/** How serious a level is; `null` for a word that is none. */
export function seriousness(level: unknown): number | null {
  const at = LEVELS.indexOf(level)
  return at === -1 ? null : at
}
