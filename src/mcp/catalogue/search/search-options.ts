import { type PublicEntry, toolFacts } from '../catalogue.ts'
import type { StatedReadOnly } from '../stated-read-only.ts'
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
  /** Whether tools that their servers mark as destructive stay in the list, or need `call_tool`. */
  readonly destructive: 'list' | 'call'
  readonly isStatedReadOnly: StatedReadOnly
  readonly learned: LearnedTools
}

type Listing = Pick<ToolSearchOptions, 'keep' | 'destructive'>

/** Whether a server's tool is in every list: it is to be kept, or its server warns of it. */
export function staysListed(entry: PublicEntry, { keep, destructive }: Listing): boolean {
  const isKept = keep.some(pattern => isLike(entry.publicKey, pattern))
  return isKept || isKeptApart(entry, { destructive })
}

/** Whether the client must see by the name what is called. */
export function isKeptApart(
  { raw }: Pick<PublicEntry, 'raw'>,
  { destructive }: Pick<Listing, 'destructive'>,
): boolean {
  return destructive === 'list' && toolFacts(raw).isDestructive
}
