import type { CallOption } from './call-options.ts'
import { type Candidate, Candidates } from './candidates.ts'
import { chooseCalls } from './choose-calls.ts'
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

function solve(
  candidates: readonly Candidate[],
  declinedBefore: readonly DeclinedCall[],
  budgetTokens: number,
): Plan {
  const { picks, ...sums } = chooseCalls(candidates, budgetTokens)
  const declined = [...declinedBefore]
  const chosen = candidates.flatMap((candidate, i) => {
    const group = [candidate, ...candidate.dependents].flatMap((call, j) => {
      const option = call.options[picks[i]?.[j] ?? -1]
      if (option !== undefined) return [{ call, option }]
      declined.push(decline(call))
      return []
    })
    return group.length === 0 ? [] : [group]
  })
  chosen.sort(([a], [b]) => density(b!) - density(a!))
  const calls: PlannedCall[] = []
  for (const group of chosen) {
    const first = calls.length
    group.forEach((each, j) => {
      calls.push(plannedCall(each, j === 0 ? null : first))
    })
  }
  return { calls, declined, ...sums }
}

interface ChosenCall {
  readonly call: Candidate
  readonly option: CallOption
}

/** The value of a token in a call that was chosen. */
function density({ call, option }: ChosenCall): number {
  return (call.probability * option.value) / option.cost_tokens
}

/** A call's value is its probability by what it would be worth if it were certain. */
function plannedCall(
  { call: { options: _, dependents: __, ...call }, option }: ChosenCall,
  requires: number | null,
): PlannedCall {
  return { ...call, ...option, requires, value: option.value * call.probability }
}

function decline({ tool, args, offer }: Candidate): DeclinedCall {
  return { tool: tool.name, server: tool.server, args, reason: 'budget', offer }
}
