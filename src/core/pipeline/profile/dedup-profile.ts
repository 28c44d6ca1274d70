import type { HintFamily } from '../../hints/hint.ts'
import type { DedupTerms } from '../../sessions/turn/dedup-terms.ts'
import type { HintProfile } from './hint-profile.ts'
import { own } from './own.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import type { AgentVariant } from './profile-axes.ts'

/** The section `dedup` for a tool and an agent. References that no hint may write are off. */
export function dedupFor(
  { dedup, endpoint_overrides }: PipelineConfig,
  tool: string | undefined,
  agent: AgentVariant,
  hints: HintProfile,
): DedupTerms {
  const override = own(endpoint_overrides, tool)
  const enabled = override?.dedup_enabled ?? own(dedup.enabled_per_endpoint, tool) ?? true
  const may = (family: HintFamily) => enabled && hints.enabled && hints.types[family].enabled
  const near = agent.near_ref_enabled ?? dedup.near_ref_enabled
  const lines = agent.lines_enabled ?? dedup.lines_enabled
  return {
    exact: may('reference'),
    near: near && may('near_reference'),
    lines: lines && may('lines'),
    lruSize: override?.lru_size ?? dedup.lru_size,
    minBodyChars: override?.min_body_chars ?? dedup.min_body_chars,
    nearMaxDeltaBytes: dedup.near_ref_max_delta_bytes,
    nearMinBodyBytes: dedup.near_ref_min_body_bytes,
    minSavedTokens: dedup.lines_min_saved_tokens,
    mutating: dedup.mutating_tools,
    stale: own(dedup.invalidates, tool) ?? [],
    verbosity: dedup.hint_verbosity ?? hints.default_verbosity,
  }
}
