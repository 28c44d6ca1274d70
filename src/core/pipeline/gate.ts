import { AppError } from '../base/errors.ts'
import type { Refusal } from '../contract/report.ts'
import type { Candidate, Proposals } from './layer.ts'

/**
 * The gate in front of every answer: the cheapest candidate that decodes to the very value that
 * came in leaves; any other is refused, with the reason for the metrics (promises 1 and 2).
 */
export function passGate(proposals: Proposals, refusals: Refusal[]): Candidate | undefined {
  for (const format of proposals.bigger) refusals.push({ format, reason: 'bigger' })
  return proposals.candidates.find(candidate => {
    const reason = fault(candidate)
    if (reason !== null) refusals.push({ format: candidate.format, reason })
    return reason === null
  })
}

function fault(candidate: Candidate): Refusal['reason'] | null {
  try {
    return candidate.restores() ? null : 'differs'
  } catch (error) {
    if (error instanceof AppError) return 'failed'
    throw error
  }
}
