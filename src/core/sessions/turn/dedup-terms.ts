import type { Verbosity } from '../../hints/hint.ts'
import type { RunTerms } from '../lines/plan-lines.ts'

/** How a tool's results are compared with what the session has seen. */
export interface DedupTerms {
  /** Whether a result may be sent as an exact, near or line-range reference. */
  readonly exact: boolean
  readonly near: boolean
  readonly lines: boolean
  /** Bodies of this tool that a session remembers. */
  readonly lruSize: number
  /** UTF-16 code units of a body, at least. */
  readonly minBodyChars: number
  readonly references: RunTerms
  /** Blocks of hosts that are references if they come again, by name. */
  readonly hostBlocks: readonly string[]
  /** Tools that write the file they are given. */
  readonly mutating: readonly string[]
  /** Tools whose results are stale once this one is called. */
  readonly stale: readonly string[]
  readonly verbosity: Verbosity
}

/** Whether results of the tool take part in references at all. */
export function takesPart({ exact, near, lines }: DedupTerms): boolean {
  return exact || near || lines
}
