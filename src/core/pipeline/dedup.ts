import { PASSTHROUGH } from '../formats/passthrough.ts'
import { createHintGate } from '../hints/policy.ts'
import type { Done, OperationContext } from '../operations/operation.ts'
import { resolveProfile } from '../profile/resolve.ts'
import type { DedupAnswer, DedupRequest } from '../requests/dedup.ts'
import { readInput } from './read-input.ts'
import { openSessionLayer } from './session-layer.ts'

/** The caller delivers the content, or the hint. */
const AS_IT_IS = { lossless: true, format: PASSTHROUGH }

/** L0 alone: what the session knows of a content, which is recorded for later ones. */
export function dedupContent(request: DedupRequest, context: OperationContext): Done<DedupAnswer> {
  const input = readInput(request, context)
  const profile = resolveProfile(context.pipeline, request)
  const layer = openSessionLayer(input, profile, context.sessions)
  if (layer === null) return { answer: { kind: 'none', partition: 0 }, reports: [] }
  const { partition, ref } = layer
  const gate = createHintGate(profile.hints, { sentInSession: layer.sentInSession })
  const referral = layer.toResult(gate)
  const keep = layer.record(AS_IT_IS, referral)
  const known = ref === undefined ? {} : { ref }
  if (referral === null || keep === null) {
    const kept = keep ?? layer.record(AS_IT_IS, null) ?? []
    return { answer: { kind: 'none', ...known, partition }, keep: kept, reports: [] }
  }
  const { content: hint, relies } = referral
  const kind = referral.kind === 'near' ? 'near' : 'exact'
  const of = relies[0]!.ref
  return { answer: { kind, ...known, of, hint, partition }, keep, rely: relies, reports: [] }
}
