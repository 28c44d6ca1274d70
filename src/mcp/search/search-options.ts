import type { StatedReadOnly } from '../stated-read-only.ts'
import type { LearnedTools } from './learned-tools.ts'

/** When a client sees a search in place of all tools, and which stay in its list. */
export interface ToolSearchOptions {
  readonly mode: 'auto' | 'always' | 'never'
  /** In `auto`: shorter lists stay. In any mode: learned tools are listed up to here. */
  readonly above_tokens: number
  /** Patterns of public names that stay in the list. */
  readonly keep: readonly string[]
  /** Whether tools that their servers mark as destructive stay in the list, or need `call_tool`. */
  readonly destructive: 'list' | 'call'
  readonly isStatedReadOnly: StatedReadOnly
  readonly learned: LearnedTools
}
