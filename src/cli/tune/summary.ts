import { LINE_FAULTS } from '../../tune/logs/read-lines.ts'
import type { Minings } from './report.ts'

/**
 * What was read and what was passed over, a line each; without a path, since that names a project.
 */
export function summaryOf({ files, other, unreadable, tally, study }: Minings): string {
  const { lines, without_call, skipped } = tally
  const faults = LINE_FAULTS.filter(name => skipped[name] > 0)
  const told = faults.map(name => `${name} ${skipped[name]}`)
  const counts: readonly (readonly [number, string])[] = [
    [study.copies, 'more that stand in several logs, counted once'],
    [skipped.no_text, 'more without a text, such as images'],
    [skipped.not_encoded, 'more that the service would refuse'],
    [without_call, 'whose call is in no log'],
    [sum(faults.map(name => skipped[name])), `lines passed over: ${told.join(', ')}`],
    [other, 'files that are no logs'],
    [unreadable, 'files or folders that cannot be read'],
  ]
  const parts = [
    `${study.results} results of ${study.sessions} sessions, in ${lines} lines of ${files} logs`,
    ...counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])),
  ]
  return `${parts.join('\n')}\n`
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
