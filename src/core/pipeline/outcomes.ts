import type { Refusal } from '../contract/result-row.ts'
import { withoutGaps } from '../formats/gaps.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { findLookAlikes, type LookAlikes } from '../hints/look-alikes.ts'
import { createHintGate, NONE_SENT } from '../hints/policy.ts'
import { readingPrice } from '../reading/price.ts'
import type { DiffLevel } from '../reduce/elide/view-diff.ts'
import type { ViewLevel } from '../reduce/views/level.ts'
import type { Referral } from '../sessions/turn/referral.ts'
import { type ElideOptions, elideContent } from './elide.ts'
import {
  type BesideReferences,
  escapeBeside,
  escapeChoice,
  hasOnlyReferences,
  marksIn,
} from './escape.ts'
import { type FitOptions, type FitOutcome, fitBudget, lookAlikesIn } from './fit-budget.ts'
import { type Choice, chooseLossless } from './gate.ts'
import { isSearch } from './is-search.ts'
import { smallestBeside, withoutOtherLines } from './lacking-lines.ts'
import { costOf, type Layer, type LayerInput } from './layer.ts'
import { allowsReference, layersFor } from './layers.ts'
import { fitWish, isWholeShown, levelInForce } from './level.ts'
import type { LeftMarks } from './marked-lines.ts'
import type { Profile } from './profile/resolve.ts'
import { type ViewProfile, valuationOf } from './profile/sections.ts'
import { type ContentRequest, type PipelineContext, readInput } from './read-input.ts'
import type { SessionLayer } from './session-layer.ts'
import { selectsItems } from './trim-items.ts'
import { viewOf } from './view.ts'
import { linesFormat } from './wrapped-format.ts'

/** The possible answers for one result. */
export interface Outcomes {
  /**
   * With references to what the agent has (L0), if that is the smallest; by itself if a level is in
   * force that leaves less.
   */
  referred(): FitOutcome | null
  /** By itself (L1 to L3), within the budget; throws `AppError` as `fitBudget` does. */
  encoded(): FitOutcome
}

/** A reference must stay a line of its own, word for word. */
const AROUND_REFERENCES: readonly string[] = ['numbered', 'numbered@1', 'diff', 'diff@1']

/** What changed is sent if it takes at most this part of the price of the whole. */
export const MOST_OF_WHOLE = 0.5

export function createOutcomes(
  input: LayerInput & { readonly request: ContentRequest },
  profile: Profile,
  context: PipelineContext,
  { layer, refusals }: { readonly layer: SessionLayer | null; readonly refusals: Refusal[] },
): Outcomes {
  const { request, prices } = input
  const layers = layersFor(profile)
  let smallest: Choice | undefined

  const lossless = () => {
    smallest ??= escapeChoice(input, chooseLossless(input, layers, refusals), 'all')
    return smallest
  }

  const inputOf = (content: string, formats = request.formats) =>
    readInput({ ...request, content, ...(formats === undefined ? {} : { formats }) }, context)

  const choose: FitOptions['choose'] = (content, marks = {}) =>
    chooseLeft(content, marks, inputOf, layers)

  const eliding = (budget_tokens?: number): LayerInput => {
    const budget = budget_tokens === undefined ? {} : { budget_tokens }
    return { ...input, request: { ...request, mode: 'elide', ...budget } }
  }

  const { gate, fitOptions, elideOptions } = optionsOf(request, profile, { context, layer, choose })

  const inputBeside = (referral: Referral) => {
    const { formats = AROUND_REFERENCES } = request
    const around = formats.filter(format => AROUND_REFERENCES.includes(format))
    return inputOf(referral.content, around)
  }

  function withLines(referral: Referral | null): FitOutcome | null {
    if (referral === null) return null
    const beside = inputBeside(referral)
    const tokens = beside.prices.baseline
    const written = writeBeside(referral, beside, layers, 'all')
    const counted = written.content === referral.content ? tokens : undefined
    const outcome = pricedReferral(input, referral, { ...written, counted })
    if (outcome === null) return null
    const uses = { reference: referral.hints.length }
    return {
      ...outcome,
      readingPrice: readingPrice(profile.encoding.reading, uses, outcome.tokens),
      referredTokens: Math.max(0, prices.baseline - tokens),
    }
  }

  /** The lines that are not references lose their bulk as well. */
  function besideLines(lines: FitOutcome, { level, tokens }: ViewProfile): FitOutcome | null {
    if (tokens !== undefined || level !== 'compact') return null
    const write = (referral: Referral) =>
      writeBeside(referral, inputBeside(referral), layers, 'hints')
    const options = { ...elideOptions(), shown: null, level, write, base: lines }
    const outcome = withoutOtherLines(eliding(), lines, options)
    return outcome && { ...outcome, level }
  }

  return {
    referred() {
      // A part that is asked for by number is no earlier result.
      if (layer === null || selectsItems(request)) return null
      const same = pricedReferral(input, layer.toResult(gate()))
      if (same !== null) return same
      const changes = pricedReferral(input, layer.toChanges(gate()))
      if (changes !== null && changes.tokens <= MOST_OF_WHOLE * costOf(lossless())) return changes
      const lines = withLines(layer.toLines(gate()))
      if (lines === null) return null
      const isSmaller = costOf(lines) < costOf(lossless())
      const view = levelInForce(input, profile, context.keepsOriginals)
      // A file that is read again is often about to be edited: parts of it must save enough to go.
      const isElided = request.mode === 'elide' && profile.elision.leastSaved.text > 0
      if (isWholeShown(view, lines) && !isElided) return isSmaller ? lines : null
      // A few lines that the agent has already are no reason to send all of the others.
      const itself = this.encoded()
      const whole = isSmaller ? lines : lossless()
      const ways = [itself, besideLines(lines, view)]
      return smallestBeside(whole, lines, ways, profile.elision) ?? itself
    },
    encoded() {
      const elide: Elide = (from, terms) =>
        elideContent(from, lossless(), { ...elideOptions(), shown: null, ...terms })
      const fitted = (from: LayerInput) => fitBudget(from, lossless(), fitOptions())
      const left = (level: ViewLevel): FitOutcome | null => {
        if (level === 'full') return null
        const shown = viewOf(input, level, profile.view.views)
        const at = { input, from: level === 'compact' ? eliding() : input, shown }
        const outcome = leftAt(level, at, elide, lossless)
        return outcome && { ...outcome, level }
      }
      const view = levelInForce(input, profile, context.keepsOriginals)
      const whole = () => elided(input, elide, lossless) ?? fitted(input)
      const within = (tokens: number) => fitted(eliding(tokens))
      return fitWish(view, { left, whole, within })
    },
  }
}

/** How an attempt gates its hints and reduces what it writes. */
function optionsOf(
  request: ContentRequest,
  profile: Profile,
  {
    context,
    layer,
    choose,
  }: {
    readonly context: PipelineContext
    readonly layer: SessionLayer | null
    readonly choose: FitOptions['choose']
  },
) {
  const { hints, budget, elision } = profile
  /** One for each attempt, since it counts what it admits. */
  const gate = () => createHintGate(hints, layer ?? NONE_SENT)
  /** The format that a reader expects of this endpoint. */
  const usual = () => (hints.comparesFormats ? layer?.lastFormat() : undefined) ?? profile.preferred
  const fitOptions = () => ({
    gate: gate(),
    freshGate: createHintGate(hints, NONE_SENT),
    valuation: valuationOf(budget, request.strategy),
    usual: usual(),
    searches: searchesOf(request, profile, layer),
    algorithm: budget.algorithm,
    keepsOriginals: context.keepsOriginals,
    retrievingTools: elision.retrievingTools,
    choose,
  })
  return { gate, fitOptions, elideOptions: () => ({ ...fitOptions(), elision }) }
}

type Elide = (
  from: LayerInput,
  terms: Partial<Pick<ElideOptions, 'shown' | 'level' | 'base'>>,
) => FitOutcome | null

interface AtLevel {
  readonly input: LayerInput
  /** The same, whose bulk may go at the level. */
  readonly from: LayerInput
  readonly shown: ElideOptions['shown']
}

/** What a level leaves. Fields that a view does not show go whatever that saves. */
function leftAt(
  level: DiffLevel,
  { input, from, shown }: AtLevel,
  elide: Elide,
  lossless: () => Choice,
): FitOutcome | null {
  const fewer = shown && elide(input, { shown, level })
  if (from === input && shown !== null) return fewer
  return elide(from, { shown, level, base: fewer ?? lossless() }) ?? fewer
}

/** What mode `elide` leaves. Fields that a request names go whatever that saves. */
function elided(input: LayerInput, elide: Elide, lossless: () => Choice): FitOutcome | null {
  const { omits } = input.request
  if (omits === undefined) return elide(input, { base: lossless() })
  const request = { ...input.request, omits: { ...omits, bulk: false } }
  const fewer = elide({ ...input, request }, {})
  return (omits.bulk ? elide(input, { base: fewer ?? lossless() }) : null) ?? fewer
}

/**
 * What may be said of a chain of searches that the request's call ends. With a budget nothing may,
 * since chunks have the same notes whenever they are asked for.
 */
function searchesOf(
  { tool, args, is_error: isError, budget_tokens: budget }: LayerInput['request'],
  { hints }: Profile,
  layer: SessionLayer | null,
): FitOptions['searches'] {
  const mayTell = hints.types.search_chain.enabled && isError !== true && budget === undefined
  if (!mayTell || layer === null || !isSearch(tool, () => args)) return undefined
  return { count: layer.searchesBefore() + 1 }
}

/** New lines may be written shorter, in a way that leaves references whole. */
function writeBeside(
  referral: Referral,
  text: LayerInput,
  layers: readonly Layer[],
  kinds: LookAlikes,
): BesideReferences {
  const chosen = chooseLossless(text, layers, [])
  const isClear = hasOnlyReferences(chosen.content, referral)
  const { content, format } = isClear ? chosen : { ...referral, format: PASSTHROUGH }
  return escapeBeside(content, linesFormat(referral.format, format), kinds)
}

/**
 * A text with references that the request allows, and that fits its budget.
 * @param written the text as it is sent, with its tokens if they are known; absent: that of the
 * references
 */
function pricedReferral(
  { request, prices }: LayerInput,
  referral: Referral | null,
  written?: BesideReferences & { readonly counted: number | undefined },
): FitOutcome | null {
  if (referral === null) return null
  const { content, format, ...rest } = written ?? referral
  if (!allowsReference(request.formats, referral.format)) return null
  const tokens = prices.price(content, written?.counted)
  if (tokens === null || tokens > (request.budget_tokens ?? Infinity)) return null
  return {
    content,
    layer: 'L0',
    format,
    tokens,
    hints: [...referral.hints],
    elided: [],
    keep: [],
    referral,
    ...('lookAlikes' in rest ? lookAlikesIn(rest) : {}),
  }
}

/** A text with gaps may have so many times more tokens than one without, and so many for each. */
const MOST_MORE = 1.1
const GAP_TOKENS = 12

/** The smallest lossless text of the rest of a content, which may have marks of ours. */
function chooseLeft(
  content: string,
  { innerMarks, marked, unmarked = content }: LeftMarks,
  read: (content: string) => LayerInput,
  layers: readonly Layer[],
): Choice {
  const withGaps = marked && chooseMarked({ ...read(unmarked), marked }, layers, innerMarks)
  if (withGaps) return withGaps
  const left = read(content)
  return escapeChoice(left, chooseLossless(left, layers, []), 'hints', innerMarks)
}

/**
 * The smallest text of a value that has a gap in each place where items are missing. Returns `null`
 * if no format can write one, if it takes many more tokens than a text without gaps, and if the
 * data has something like a gap: then the marker names the places.
 * @param left what is left, without marks, and as a value with gaps
 */
function chooseMarked(
  left: LayerInput,
  layers: readonly Layer[],
  innerMarks?: number,
): Choice | null {
  if (mayImitateGaps(left)) return null
  const chosen = chooseLossless(left, layers, [])
  if (chosen.format === PASSTHROUGH) return null
  const { marked: _, ...unmarked } = left
  const plain = chooseLossless(unmarked, layers, [])
  const escaped = escapeChoice(left, chosen, 'hints', innerMarks)
  const { gaps } = withoutGaps(escaped.content)
  const most = MOST_MORE * plain.tokens + GAP_TOKENS * gaps.length
  return gaps.length === 0 || escaped.tokens > most ? null : { ...escaped, isMarked: true }
}

/** Marks in lines cannot be escaped in a value. */
function mayImitateGaps({ content, value }: LayerInput): boolean {
  if (value === undefined && marksIn(content) > 0) return true
  if (!content.includes(' not shown')) return false
  return findLookAlikes(content, 'hints').some(at => content.startsWith('… ', at))
}
