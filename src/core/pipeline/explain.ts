import { attempt } from '../base/attempt.ts'
import type { EncodeAnswer, LayerId } from '../contract/encode.ts'
import type { Refusal } from '../contract/result-row.ts'
import { type ExplainedPart, formatId } from '../formats/json/json-format.ts'
import { findJsonFormat } from '../formats/json/registry.ts'
import type { Uses } from '../reading/constructs.ts'
import type { FitOutcome } from './fit-budget.ts'
import { passGate } from './gate.ts'
import type { LayerInput } from './layer.ts'
import { layersFor } from './layers.ts'
import { createOutcomes } from './outcomes.ts'
import type { Profile } from './profile/resolve.ts'
import { profiledFormats } from './profiled-formats.ts'
import { type ContentRequest, type PipelineContext, profileOf, readInput } from './read-input.ts'
import type { WithinBudget } from './within-budget.ts'
import { bareFormat } from './wrapped-format.ts'

/** The result for one candidate. */
export interface Explained {
  readonly layer: LayerId
  readonly format: string
  /** Tokens if it is smaller than the input. */
  readonly tokens: number | null
  /** Tokens, and what its reader must know; that is named by its constructs. */
  readonly price: number | null
  readonly constructs: Uses
  /**
   * `sent`: it was sent, or would be without the budget. `dearer`: its price is above that of this
   * one, or not below the tokens of the input.
   * `declined`: the format cannot represent the input exactly. Otherwise the gate's reason,
   * see `Refusal`.
   */
  readonly verdict: 'sent' | 'dearer' | 'declined' | Refusal['reason']
}

/**
 * How parts were chosen for a budget. Values have no unit; tokens are those of the planner's own
 * prices.
 */
export interface ExplainedPlan {
  readonly budget_tokens: number
  /** Parts that were decided on, each with several choices. */
  readonly classes: number
  readonly worth: number
  /** The value of the whole content. */
  readonly whole_worth: number
  /** No plan over the same parts and choices has a higher value. */
  readonly upper_bound: number
  /** Share of the bound that the plan may be short of: 0 if it is proven best. */
  readonly gap: number
  readonly optimal: boolean
  readonly omissions: WithinBudget['omissions']
}

/** How an answer came about. */
export interface Explanation {
  readonly shape: string
  readonly inner_formats: readonly string[]
  readonly tokenizer: string
  readonly baseline: number
  /** The layer of the sent text. */
  readonly layer: LayerId
  readonly format: string
  readonly final: number
  readonly hints: EncodeAnswer['hints']
  /**
   * In the order in which they were looked at. Formats that do not accept the shape are not listed.
   */
  readonly candidates: readonly Explained[]
  /** How the parts of the sent text were chosen, if its format decides by parts. */
  readonly parts: readonly ExplainedPart[]
  /** The plan, if parts were left out. */
  readonly plan: ExplainedPlan | null
}

/**
 * The way of `encodeContent` without a session, step by step. Parts may be left out although no
 * original is kept, since nothing is sent.
 * @throws AppError as `encodeContent`
 */
export function explainContent(request: ContentRequest, context: PipelineContext): Explanation {
  const input = readInput(request, context)
  const profile = profileOf(request, context)
  const allowed = { ...context, keepsOriginals: true }
  const outcome = createOutcomes({ ...input, request }, profile, allowed, {
    layer: null,
    refusals: [],
  }).encoded()
  const { shape, prices } = input
  return {
    shape: shape.shape,
    inner_formats: shape.inner_formats,
    tokenizer: prices.counter.id,
    baseline: prices.baseline,
    layer: outcome.layer,
    format: outcome.format,
    final: outcome.tokens,
    hints: outcome.hints,
    candidates: explainCandidates(input, profile),
    parts: explainParts(input, profile, outcome),
    plan: explainPlan(request, outcome),
  }
}

const UNPRICED = { tokens: null, price: null, constructs: {} } as const

function explainCandidates(input: LayerInput, profile: Profile): readonly Explained[] {
  const explained: Explained[] = []
  for (const layer of layersFor(profile)) {
    const proposals = layer.propose(input)
    const refusals: Refusal[] = []
    const winner = passGate(proposals, refusals)
    const reasons = new Map(refusals.map(({ format, reason }) => [format, reason]))
    for (const candidate of proposals.candidates) {
      const { format, tokens, uses = {}, readingPrice = 0 } = candidate
      const price = Number.isFinite(readingPrice) ? tokens + Math.ceil(readingPrice) : null
      const verdict = candidate === winner ? 'sent' : (reasons.get(format) ?? 'dearer')
      explained.push({ layer: layer.id, format, tokens, price, constructs: uses, verdict })
    }
    for (const format of proposals.bigger) {
      explained.push({ layer: layer.id, format, ...UNPRICED, verdict: 'bigger' })
    }
    for (const format of proposals.declined) {
      explained.push({ layer: layer.id, format, ...UNPRICED, verdict: 'declined' })
    }
    if (winner !== undefined) break
  }
  return explained
}

/** The parts are those of the whole input, because the rest within a budget is another value. */
function explainParts(
  { value, prices }: LayerInput,
  { encoding }: Profile,
  { format: sent, trimmed }: FitOutcome,
): readonly ExplainedPart[] {
  const id = trimmed === undefined ? findJsonFormat(bareFormat(sent))?.id : undefined
  const format = profiledFormats(encoding).values.find(each => each.id === id)
  if (value === undefined || format?.explain === undefined) return []
  const explain = format.explain.bind(format, value, prices.counter)
  return attempt(formatId(format), explain, () => [])
}

function explainPlan(
  { budget_tokens = 0 }: ContentRequest,
  { trimmed }: FitOutcome,
): ExplainedPlan | null {
  if (trimmed === undefined) return null
  const { classes, value, wholeValue, upperBound, optimal } = trimmed.plan
  return {
    budget_tokens,
    classes,
    worth: value,
    whole_worth: wholeValue,
    upper_bound: upperBound,
    gap: optimal || upperBound === 0 ? 0 : (upperBound - value) / upperBound,
    optimal,
    omissions: trimmed.omissions,
  }
}
