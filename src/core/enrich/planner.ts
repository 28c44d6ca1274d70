import type { CallOption } from './call-options.ts'
import { type Candidate, Candidates } from './candidates.ts'
import { chooseCalls } from './choose-calls.ts'
import type { Offering, Plan, PlanContext, PlannedCall } from './plan.ts'

/**
 * Chooses which follow-up calls to make ahead (SOURCES.md#planner, "Knapsack algorithm"). Calls
 * that are eligible, safe, new and probable enough are candidates. Every call that was offered is
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
  return choose(candidates, context.budgetTokens)
}

function choose(candidates: Candidates, budgetTokens: number): Plan {
  const { picks, ...sums } = chooseCalls(candidates.all, budgetTokens)
  const chosen = candidates.all.flatMap((candidate, i) => {
    const group = [candidate, ...candidate.dependents].flatMap((call, j) => {
      const option = call.options.find((_, at) => at === picks[i]?.[j])
      if (option !== undefined) return [{ call, option }]
      candidates.decline(call, 'budget')
      return []
    })
    return group.length === 0 ? [] : [group]
  })
  chosen.sort(([a], [b]) => density(b!) - density(a!))
  const calls: PlannedCall[] = []
  for (const group of chosen) {
    const first = calls.length
    for (const { call, option } of group) {
      const { tool, args, key, link, offer, probability } = call
      const requires = calls.length === first ? null : first
      // A call's value is its probability by what it would be worth if it were certain.
      const value = option.value * probability
      calls.push({ tool, args, key, link, offer, probability, ...option, requires, value })
    }
  }
  return { calls, declined: candidates.declined, ...sums }
}

/** The value of a token in a call that was chosen. */
function density({ call, option }: { call: Candidate; option: CallOption }): number {
  return (call.probability * option.value) / option.cost_tokens
}
