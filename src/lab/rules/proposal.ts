import type { KeyPath } from '../../core/pipeline/profile/key-path.ts'
import type { ToolKey } from '../../core/pipeline/profile/tool-keys.ts'
import type { RecordedResult } from '../play/conversation.ts'
import type { PlayedResult } from '../play/play.ts'
import type { ConfigValue } from '../versions/key-path.ts'

type RuleId = 'R1' | 'R2' | 'R3' | 'R4' | 'R5' | 'R6' | 'R8' | 'P1' | 'P2' | 'P3'

/** One change of the configuration that a rule proposes. */
export interface Proposal {
  readonly rule: RuleId
  readonly key: KeyPath
  readonly to: ConfigValue
  /** A call of the class that it is for; absent if it is for all. */
  readonly example?: Pick<RecordedResult, 'tool' | 'args'>
  /** The figures that the rule decided by, in words, without any content. */
  readonly evidence: string
  /** Own results are too few to change this. */
  readonly isTooFew: boolean
  /** Others' figures propose it, and there are too few own results to judge it by. */
  readonly isPrior?: boolean
  /**
   * Whether the change can have an effect on a conversation that was played so without it. It may
   * say yes if there is none.
   */
  touches(results: readonly RecordedResult[], played: readonly PlayedResult[]): boolean
}

/** A change of a key that is for all classes. */
export type ProposedChange = Pick<Proposal, 'key' | 'to' | 'evidence' | 'touches'>

/** A change of a key of one class. */
export interface ClassChange {
  readonly key: ToolKey
  readonly to: ConfigValue
  readonly evidence: string
}

/** Rules by name; each finds changes by what it is asked. */
export type Rules<Asked extends readonly unknown[], Found> = Readonly<
  Partial<Record<RuleId, (...asked: Asked) => readonly Found[]>>
>

/** What rules propose, in their order. @param complete makes a proposal of what one found */
export function proposed<Asked extends readonly unknown[], Found>(
  rules: Rules<Asked, Found>,
  asked: Asked,
  complete: (found: Found) => Omit<Proposal, 'rule'>,
): readonly Proposal[] {
  return Object.entries(rules).flatMap(([rule, find]) => {
    return find(...asked).map(found => ({ rule: rule as RuleId, ...complete(found) }))
  })
}

/** Behind the rule of a change that is not judged yet. */
const PRIOR_MARK = ' (prior)'

/** The rule of a change, as it is kept with its key. */
export function writeRule({ rule, isPrior }: Pick<Proposal, 'rule' | 'isPrior'>): string {
  return isPrior === true ? `${rule}${PRIOR_MARK}` : rule
}

/** Whether `writeRule` wrote it of a change that others' figures proposed. */
export function isPriorRule(rule: string): boolean {
  return rule.endsWith(PRIOR_MARK)
}
