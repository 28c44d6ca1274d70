import type { Done, Report } from '../contract/operation-result.ts'
import type { DedupAnswer, DedupRequest } from '../contract/sessions.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { createHintGate, type HintGate } from '../hints/policy.ts'
import type { Referral } from '../sessions/turn/referral.ts'
import { type ResultAnswer, resultRow } from '../telemetry/result-row.ts'
import { resolveTokenizer } from '../tokens/profiles.ts'
import { MOST_OF_WHOLE } from './outcomes.ts'
import { createPrices, type Prices } from './prices.ts'
import { type PipelineContext, profileOf } from './read-input.ts'
import { openSessionLayer, type SessionLayer } from './session-layer.ts'
import type { Delivery } from './session-recording.ts'

/** Runs L0 alone: compares a content with what the session knows, and records it for later ones. */
export function dedupContent(
  request: DedupRequest & { readonly content: string },
  context: PipelineContext,
): Done<DedupAnswer> {
  const { content } = request
  // The content is neither parsed nor classified, because references compare bytes.
  const prices = createPrices(content, resolveTokenizer(request), context.counters)
  const profile = profileOf(request, context)
  const layer = context.isPaused
    ? null
    : openSessionLayer('dedup', { request, content, prices }, profile, context)
  const reportsFor = (answer: DedupAnswer) => reportsOn(request, prices, answer, layer, context)
  if (layer === null) {
    const answer = { kind: 'none', partition: 0 } as const
    return { answer, reports: reportsFor(answer) }
  }
  const past = layer.past()
  if (past !== null) return { ...past, answer: past.answer as DedupAnswer, reports: [] }
  const gate = createHintGate(profile.hints, layer)
  const referral = layer.toResult(gate) ?? changesOf(layer, gate, prices)
  const answer = toAnswer(layer, referral)
  const keep = layer.deliver(deliveryOf(answer, referral), referral)
  if (keep !== null) {
    return { answer, keep, dependencies: referral?.dependencies ?? [], reports: reportsFor(answer) }
  }
  const none = toAnswer(layer, null)
  const others = layer.deliver(deliveryOf(none, null), null) ?? []
  return { answer: none, keep: others, reports: reportsFor(none) }
}

function changesOf(layer: SessionLayer, gate: HintGate, { counter, baseline }: Prices) {
  const changes = layer.toChanges(gate)
  const most = MOST_OF_WHOLE * baseline
  return changes !== null && counter.count(changes.content) <= most ? changes : null
}

/** The account for telemetry, if it is on. It assumes that the caller sends the hint. */
function reportsOn(
  request: DedupRequest & { readonly content: string },
  { counter, baseline }: Prices,
  { hint, partition }: DedupAnswer,
  layer: SessionLayer | null,
  { telemetry }: PipelineContext,
): Report[] {
  if (telemetry === undefined) return []
  const { content } = request
  const { id: tokenizer, exact } = counter
  const final = hint === undefined ? baseline : Math.min(baseline, counter.count(hint))
  const answer = {
    content: hint ?? content,
    format: PASSTHROUGH,
    elided: [],
    layer: hint === undefined ? ('L3' as const) : ('L0' as const),
    tokens: { tokenizer, exact, baseline, final },
    savings: { dedup_tokens: baseline - final, encoder_tokens: 0, elided_tokens: 0 },
    partition,
  } satisfies ResultAnswer
  const shape = { shape: 'unknown', inner_formats: [] } as const
  const source = { call: request, content, identity: layer?.identity, shape }
  return [{ op: 'dedup', only: 'telemetry', row: () => resultRow(source, answer, []) }]
}

function toAnswer({ partition, ref }: SessionLayer, referral: Referral | null): DedupAnswer {
  const known = ref === undefined ? {} : { ref }
  if (referral === null) return { kind: 'none', ...known, partition }
  const kind = referral.kind === 'near' ? 'near' : 'exact'
  const of = referral.dependencies[0]!.ref
  return { kind, ...known, of, hint: referral.content, partition }
}

/** The caller delivers the content, or the hint. */
function deliveryOf(answer: DedupAnswer, referral: Referral | null): Delivery {
  return {
    answer,
    content: referral?.content ?? '',
    lossless: true,
    format: PASSTHROUGH,
    families: referral?.hints.map(({ family }) => family) ?? [],
    counters: referral === null ? {} : { [referral.kind]: 1 },
  }
}
