import type { PublicEntry } from '../catalogue.ts'
import type { StatedReadOnly } from '../stated-read-only.ts'
import { toolFacts } from '../tool-facts.ts'
import { isLike } from '../tool-patterns.ts'
import type { LearnedTools } from './learned-tools.ts'

/** When a client sees a search in place of all tools, and which stay in its list. */
export interface ToolSearchOptions {
  readonly mode: 'auto' | 'always' | 'never'
  /**
   * In `auto`: shorter lists stay. In any mode: learned tools are listed up to here. Absent: 6,000
   * tokens.
   */
  readonly above_tokens?: number
  /** Patterns of public names that stay in the list. */
  readonly keep: readonly string[]
  readonly isStatedReadOnly: StatedReadOnly
  readonly learned: LearnedTools
}

/** Whether a server's tool is in every list: it is to be kept, or its server warns of it. */
export function staysListed(
  entry: PublicEntry,
  { keep }: Pick<ToolSearchOptions, 'keep'>,
): boolean {
  return keep.some(pattern => isLike(entry.publicKey, pattern)) || isKeptApart(entry)
}

/** Whether its server marks a tool as destructive: the client must see its name in each call. */
export function isKeptApart({ raw }: Pick<PublicEntry, 'raw'>): boolean {
  return toolFacts(raw).annotations.destructiveHint === true
}
