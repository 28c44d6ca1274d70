import type { HintFamily } from '../hints/hint.ts'
import type { HintRule, HintsPolicy } from '../hints/policy.ts'
import { HINT_FAMILIES } from './hint-policy.ts'
import { matchModel } from './match-model.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import type { AgentVariant, DataVariant, ProfileQuery } from './resolve.ts'

/** The policy of hints for one request; it has a rule for every family, and no model is left to look for. */
export interface HintProfile extends HintsPolicy {
  readonly types: Readonly<Record<HintFamily, HintRule>>
}

/** A family of hints is sent only where the policy, the model, the agent and the tool's data all allow it. */
export function hintsFor(
  { hints }: PipelineConfig,
  { model }: ProfileQuery,
  { hints_enabled }: AgentVariant,
  { hint_set }: Partial<DataVariant>,
): HintProfile {
  const types = {} as Record<HintFamily, HintRule>
  for (const family of HINT_FAMILIES) {
    const { enabled = true, max_per_session, applies_to_models } = hints.types[family] ?? {}
    const fits = matchModel(applies_to_models ?? ['*'], model) !== undefined
    types[family] = {
      enabled: enabled && fits && (hint_set?.includes(family) ?? true),
      ...(max_per_session === undefined ? {} : { max_per_session }),
      applies_to_models: ['*'],
    }
  }
  const { default_verbosity } = hints
  return { enabled: hints_enabled ?? hints.enabled, default_verbosity, types }
}
