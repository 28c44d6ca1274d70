import { hash } from 'node:crypto'
import type { Config } from '../../config/config.ts'
import { shippedModels } from '../../config/shipped-models.ts'
import { createModels } from '../../core/enrich/models.ts'
import { ObservedCosts } from '../../core/enrich/observed-costs.ts'
import { Probabilities } from '../../core/enrich/probability.ts'
import { mineLinks, type RecordedCall } from './link-miner.ts'
import { type PlayedOffer, type PlayTerms, playSession } from './play-session.ts'

type PlanningConfig = Pick<Config, 'enrichment' | 'tools'>

export interface PlanStudy {
  /** Sessions from which links and the least probability were taken, and those that were told. */
  readonly sessions: { readonly fitted: number; readonly told: number }
  /** Links that were found, in all. */
  readonly links: number
  readonly minProbability: number
  readonly offers: readonly PlayedOffer[]
  /** Calls by tool, of the sessions that were told. */
  readonly calls: ReadonlyMap<string, number>
}

/** The share of calls ahead that must be used (SOURCES.md#planner). */
export const LEAST_USED = 0.6
/** Probabilities that are tried, the least first. */
const TRIED = [0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7]
/** With so few calls, half of them must be used at least: less is what R7 switches off. */
const LEAST_SHARE = 0.5
/** With fewer calls ahead a share says little, and with fewer than half of it nothing. */
const LEAST_CALLS = 20

/**
 * Fixes links and the least probability on half of the sessions, by a hash of their names, and
 * plays the other half with them.
 */
export function studyPlans(
  sessions: ReadonlyMap<string, readonly RecordedCall[]>,
  { enrichment, tools }: PlanningConfig,
  countTokens: (text: string) => number,
): PlanStudy {
  const isFitted = (name: string) => Number.parseInt(hash('sha256', name).slice(0, 2), 16) % 2 === 0
  const all = [...sessions].sort(([a], [b]) => (a < b ? -1 : 1))
  const fitted = all.flatMap(([name, calls]) => (isFitted(name) ? [calls] : []))
  const told = all.flatMap(([name, calls]) => (isFitted(name) ? [] : [calls]))
  const mined = mineLinks(fitted)
  const play = (minProbability: number) => {
    const terms: PlayTerms = {
      minProbability,
      countTokens,
      budgetTokens: enrichment.prefetch_budget_tokens,
      maxParallel: enrichment.max_parallel_prefetches,
      models: createModels({ shipped: shippedModels(), user: tools, mined }),
      // No time passes between sessions.
      probabilities: new Probabilities(() => 0),
      costs: new ObservedCosts(),
    }
    return { terms, offers: fitted.flatMap(calls => playSession(calls, terms)) }
  }
  const minProbability = leastProbability(least => play(least).offers)
  const { terms } = play(minProbability)
  const calls = new Map<string, number>()
  for (const { tool } of told.flat()) calls.set(tool, (calls.get(tool) ?? 0) + 1)
  return {
    sessions: { fitted: fitted.length, told: told.length },
    links: Object.values(mined).reduce((sum, { follow_up = [] }) => sum + follow_up.length, 0),
    minProbability,
    offers: told.flatMap(each => playSession(each, terms)),
    calls,
  }
}

/**
 * The least probability at which enough calls are made ahead and used; if there is none, the one
 * with the highest share of fewer calls.
 */
function leastProbability(played: (least: number) => readonly PlayedOffer[]): number {
  let best = { least: TRIED.at(-1) as number, share: LEAST_SHARE }
  for (const least of TRIED) {
    const made = played(least).filter(({ declined }) => declined === null)
    const share = made.filter(({ isUsed }) => isUsed).length / made.length
    if (made.length >= LEAST_CALLS && share >= LEAST_USED) return least
    if (2 * made.length >= LEAST_CALLS && share > best.share) best = { least, share }
  }
  return best.least
}
