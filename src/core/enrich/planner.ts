import type { CallOption } from './call-options.ts'
import { type Candidate, Candidates } from './candidates.ts'
import { type Choosable, chooseCalls, NONE } from './choose-calls.ts'
import type { DeclinedCall, Offering, Plan, PlanContext, PlannedCall } from './plan.ts'

/**
 * Chooses which follow-up calls to make ahead (SOURCES.md#planner, "Knapsack algorithm"). Makes
 * nothing itself. Only calls that are eligible, safe, new and probable enough are candidates; which
 * of them are made is a knapsack (`chooseCalls`). Every call that was offered is
 * either planned or declined with a reason, except for the same call from another link.
 */
export function planCalls(offerings: readonly Offering[], context: PlanContext): Plan {
  const candidates = new Candidates(context)
  // Calling the same tool again is what deduplication is for (SOURCES.md#planner).
  const others = offerings.filter(({ link, trigger }) => link.tool !== trigger)
  for (const offering of others) {
    if (offering.link.requires === undefined) candidates.addCalls(offering)
  }
  for (const offering of others) {
    if (offering.link.requires !== undefined) candidates.addDependents(offering)
  }
  return solve(candidates.all, candidates.declined, context.budgetTokens)
}

interface Chosen {
  readonly candidate: Candidate
  readonly picked: CallOption
  readonly dependents: readonly number[]
}

function solve(
  candidates: readonly Candidate[],
  declinedBefore: readonly DeclinedCall[],
  budgetTokens: number,
): Plan {
  const items = candidates.map(candidate => ({
    ...choosable(candidate),
    dependents: candidate.dependents.map(choosable),
  }))
  const { picks, value, cost_tokens, bound } = chooseCalls(items, budgetTokens)
  const declined = [...declinedBefore]
  const chosen: Chosen[] = []
  candidates.forEach((candidate, i) => {
    const { option, dependents } = picks[i]!
    const picked = candidate.options[option]
    if (picked === undefined) declined.push(decline(candidate))
    else chosen.push({ candidate, picked, dependents })
    candidate.dependents.forEach((dependent, j) => {
      if ((dependents[j] ?? NONE) === NONE) declined.push(decline(dependent))
    })
  })
  chosen.sort((a, b) => density(b) - density(a))
  const calls: PlannedCall[] = []
  for (const { candidate, picked, dependents } of chosen) {
    const requires = calls.push(plannedCall(candidate, picked, null)) - 1
    candidate.dependents.forEach((dependent, j) => {
      const option = dependent.options[dependents[j] ?? NONE]
      if (option !== undefined) calls.push(plannedCall(dependent, option, requires))
    })
  }
  return { calls, declined, value, cost_tokens, bound }
}

/** A call's value is its probability by what it would be worth if it were certain. */
function choosable({ options, probability }: Candidate): Choosable {
  return { options, weight: probability }
}

/** The value of a token in a call that was chosen. */
function density({ candidate, picked }: Chosen): number {
  return (candidate.probability * picked.value) / picked.cost_tokens
}

function plannedCall(
  { tool, args, key, link, offer, probability }: Candidate,
  { include, cost_tokens, value: certain }: CallOption,
  requires: number | null,
): PlannedCall {
  const value = certain * probability
  return { tool, args, key, requires, link, offer, probability, include, cost_tokens, value }
}

function decline({ tool, args, offer }: Candidate): DeclinedCall {
  return { tool: tool.name, server: tool.server, args, reason: 'budget', offer }
}
