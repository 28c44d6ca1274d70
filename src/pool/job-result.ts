import { type End, times } from './entry.ts'
import type { Job, JobResult } from './job.ts'

/**
 * The result of a job for its caller.
 * @param onBug is called with the request id if the job ended in a bug
 */
export function toResult(
  job: Job,
  end: End,
  onBug: (requestId: string, bug: string) => void,
): JobResult {
  if (end.kind === 'failed') return { ok: false, problem: end.problem, ...times(end) }
  const { outcome, bytes } = end
  if (outcome.kind === 'failed') {
    if (outcome.bug !== undefined) onBug(job.requestId, outcome.bug)
    return { ok: false, problem: outcome.problem, ...times(end) }
  }
  if (outcome.kind === 'ask') throw new Error('a question came back from a phase that has none')
  const { media, reports, dependencies, markers, again } = outcome
  const part = (range: { readonly start: number; readonly length: number }) =>
    bytes.subarray(range.start, range.start + range.length)
  const item = <T extends Parameters<typeof part>[0]>({ start, length, ...rest }: T) => {
    return { ...rest, bytes: part({ start, length }) }
  }
  const kept = { keep: outcome.keep.map(item), records: outcome.records.map(item) }
  const rest = again === undefined ? {} : { again: part(again) }
  return {
    ok: true,
    media,
    body: part(outcome),
    reports,
    dependencies,
    markers,
    ...kept,
    ...rest,
    ...times(end),
  }
}
