import { argumentLines, linesIn } from '../../core/conversation/rewrite/quoted-lines.ts'
import { parseHint } from '../../core/hints/hint-line.ts'
import { isRetrieving } from '../../core/pipeline/profile/retrieving-tools.ts'
import type { BillResult } from './session.ts'

type Needing = Pick<BillResult, 'tool' | 'args' | 'text'>

/** What an agent can read in its context, and what its edits quote that it cannot. */
export interface Needs {
  /** Notes the next result, with the text that is sent for it. */
  pass(step: Needing, sent: string): void
  /** The result is a stub from now on. */
  clear(index: number): void
  /**
   * Results, by index, that must be fetched for these calls. They can be read from then on. Of the
   * results with a quoted line the newest is fetched, and a line that a call wrote is known.
   */
  fetchFor(calls: readonly Needing[]): readonly number[]
}

export type NewNeeds = () => Needs

const MUTATING_TOOLS = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit']

export function createNeeds(): Needs {
  const byLine = new Map<string, number[]>()
  const written = new Set<string>()
  /** What is left of results of which a marker says that lines are missing. */
  const left = new Map<number, ReadonlySet<string>>()
  const cleared = new Set<number>()
  const fetched = new Set<number>()
  let count = 0

  function isShown(line: string, index: number): boolean {
    if (fetched.has(index)) return true
    return !cleared.has(index) && (left.get(index)?.has(line) ?? true)
  }

  return {
    pass({ args, text }, sent) {
      for (const line of argumentLines([args])) written.add(line)
      for (const line of new Set(linesIn(text))) {
        const having = byLine.get(line)
        if (having === undefined) byLine.set(line, [count])
        else having.push(count)
      }
      if (hasMarker(sent)) left.set(count, new Set(linesIn(sent)))
      count++
    },
    clear(index) {
      cleared.add(index)
    },
    fetchFor(calls) {
      const edits = calls.filter(({ tool }) => isRetrieving(tool, MUTATING_TOOLS))
      const before = fetched.size
      for (const line of argumentLines(edits.map(({ args }) => oldTextsOf(args)))) {
        const having = byLine.get(line) ?? []
        if (having.length === 0 || written.has(line)) continue
        if (!having.some(index => isShown(line, index))) fetched.add(having.at(-1)!)
      }
      return [...fetched].slice(before)
    },
  }
}

/** Whether a text says that parts of a result are missing in it. */
export function hasMarker(sent: string): boolean {
  return sent.split('\n').some(line => parseHint(line)?.family === 'elision')
}

/** What an edit quotes; all of its arguments have what it writes too. */
function oldTextsOf(args: unknown): unknown {
  const { old_string, edits } = (args ?? {}) as { old_string?: unknown; edits?: unknown[] }
  return [old_string, edits?.map(oldTextsOf)]
}
