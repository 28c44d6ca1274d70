import type { Generation, Job, JobResult } from '../../pool/job.ts'

/** A generation for a job beside the newest. */
type KeptTerms = Pick<Job, 'kept' | 'lostGeneration'>

/** Runs a job once more with the generation that its conversation keeps, if its thread needs it. */
export async function withGeneration(
  run: (kept: KeptTerms) => Promise<JobResult>,
  find: (id: string) => Promise<Generation | null>,
): Promise<JobResult> {
  const result = await run({})
  const needed = result.ok && result.reports.find(({ rewrite }) => rewrite?.needs_generation)
  const id = needed ? needed.rewrite?.needs_generation : undefined
  if (id === undefined) return result
  const kept = await find(id)
  return run(kept === null ? { lostGeneration: id } : { kept })
}
