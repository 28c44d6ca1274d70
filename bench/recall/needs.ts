import { hasMarker, type Needs } from '../../src/lab/bill/needs.ts'
import type { BillResult } from '../../src/lab/bill/session.ts'
import { argumentsOf, formsOf } from './arguments.ts'

/** How an agent has an argument: as it was sent, by a format or a reference, or not in view. */
type Seen = 'sent' | 'decoded' | 'fetched'

/** What is counted over all contexts of an arm. */
export interface Tally {
  readonly seen: Record<Seen, number>
  calls: number
  edits: number
  /** Calls and edits of which everything is in view. */
  wholeCalls: number
  wholeEdits: number
  /** Results that lack parts. */
  readonly cut: Pick<BillResult, 'text'>[]
}

export const newTally = (): Tally => ({
  seen: { sent: 0, decoded: 0, fetched: 0 },
  ...{ calls: 0, edits: 0, wholeCalls: 0, wholeEdits: 0, cut: [] },
})

/**
 * What the arguments of all calls need of earlier results, each at its first use. What is not in
 * view must be fetched, from the newest result that has it.
 */
export function countNeeds(tally: Tally): Needs {
  const results: { readonly text: string; readonly sent: string; readonly isCut: boolean }[] = []
  const cleared = new Set<number>()
  const fetched = new Set<number>()
  /** What the agent's own calls say. */
  const said: string[] = []

  function find(argument: string): { readonly seen: Seen; readonly from?: number } | null {
    for (const form of formsOf(argument)) {
      if (said.some(text => text.includes(form))) return null
      const having = results.flatMap(({ text }, index) => (text.includes(form) ? [index] : []))
      if (having.length === 0) continue
      const inView = having.filter(index => !cleared.has(index) || fetched.has(index))
      if (inView.some(index => results[index]!.sent.includes(form))) return { seen: 'sent' }
      if (inView.some(index => !results[index]!.isCut || fetched.has(index))) {
        return { seen: 'decoded' }
      }
      return { seen: 'fetched', from: having.at(-1)! }
    }
    return null
  }

  function count(seen: readonly Seen[], isEdit: boolean): void {
    if (seen.length === 0) return
    const isWhole = !seen.includes('fetched')
    for (const each of seen) tally.seen[each]++
    tally.calls++
    if (isWhole) tally.wholeCalls++
    if (!isEdit) return
    tally.edits++
    if (isWhole) tally.wholeEdits++
  }

  return {
    pass(step, sent) {
      const isCut = hasMarker(sent)
      if (isCut) tally.cut.push(step)
      results.push({ text: step.text, sent, isCut })
    },
    clear(index) {
      cleared.add(index)
    },
    fetchFor(calls) {
      const before = fetched.size
      for (const { tool, args } of calls) {
        const { needs, isEdit, texts } = argumentsOf(tool, args)
        const found = needs.flatMap(argument => find(argument) ?? [])
        count(
          found.map(({ seen }) => seen),
          isEdit,
        )
        for (const { from } of found) if (from !== undefined) fetched.add(from)
        said.push(...texts)
      }
      return [...fetched].slice(before)
    },
  }
}
