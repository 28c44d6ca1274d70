import type { HintFamily, Verbosity } from '../hints/hint.ts'
import type { HintProfile } from './hint-profile.ts'
import { own } from './own.ts'
import type { PipelineConfig } from './pipeline-config.ts'
import type { AgentVariant } from './resolve.ts'

/** How a tool's results are compared with what the session has seen. */
export interface DedupProfile {
  /** Whether a result may be sent as an exact, near or line-range reference. */
  readonly exact: boolean
  readonly near: boolean
  readonly lines: boolean
  /** Bodies of this tool that a session remembers. */
  readonly lruSize: number
  /** UTF-16 code units of a body, at least. */
  readonly minBodyChars: number
  readonly nearMaxDeltaBytes: number
  readonly nearMinBodyBytes: number
  /** Lines of a run, at least. */
  readonly minRunLines: number
  readonly verbosity: Verbosity
}

/** The section `dedup` for a tool and an agent. What its hints may not say is off. */
export function dedupFor(
  { dedup, endpoint_overrides }: PipelineConfig,
  tool: string | undefined,
  agent: AgentVariant,
  hints: HintProfile,
): DedupProfile {
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
    minRunLines: dedup.min_run_lines,
    verbosity: dedup.hint_verbosity ?? hints.default_verbosity,
  }
}
