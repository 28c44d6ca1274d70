import type { HintFamily } from '../../hints/hint.ts'
import { HINT_FAMILIES } from '../../hints/hint-policy.ts'
import type { HintRule, HintsPolicy } from '../../hints/policy.ts'
import { matchModel } from './match-model.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import type { AgentVariant, DataVariant } from './profile-axes.ts'
import type { ProfileQuery } from './profile-query.ts'

/**
 * The policy of hints for one request; it has a rule for every family, and no model is left to look
 * for.
 */
export interface HintProfile extends HintsPolicy {
  readonly types: Readonly<Record<HintFamily, HintRule>>
}

const EVERY_MODEL: readonly string[] = ['*']

/**
 * A family of hints is sent only if the policy, the model, the agent and the tool's data all allow
 * it.
 */
export function hintsFor(
  { hints }: PipelineConfig,
  { model }: ProfileQuery,
  { hints_enabled }: AgentVariant,
  { hint_set }: Partial<DataVariant>,
): HintProfile {
  const types = {} as Record<HintFamily, HintRule>
  for (const family of HINT_FAMILIES) {
    const rule = hints.types[family]
    const fits = rule === undefined || matchModel(rule.applies_to_models, model) !== undefined
    const enabled = (rule?.enabled ?? true) && fits && (hint_set?.includes(family) ?? true)
    const limit = rule?.max_per_session
    types[family] = {
      enabled,
      ...(limit === undefined ? {} : { max_per_session: limit }),
      applies_to_models: EVERY_MODEL,
    }
  }
  const { default_verbosity } = hints
  return { enabled: hints_enabled ?? hints.enabled, default_verbosity, types }
}
