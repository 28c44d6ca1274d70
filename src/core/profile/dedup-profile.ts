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
  /** Tokens that a reference to lines saves after its own cost, at least. */
  readonly minSavedTokens: number
  /** Tools that write the file they are given. */
  readonly mutating: readonly string[]
  /** Tools whose results are stale once this one is called. */
  readonly stale: readonly string[]
  readonly verbosity: Verbosity
}

/** Whether results of the tool take part in references at all. */
export function takesPart({ exact, near, lines }: DedupProfile): boolean {
  return exact || near || lines
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
    minSavedTokens: dedup.lines_min_saved_tokens,
    mutating: dedup.mutating_tools,
    stale: own(dedup.invalidates, tool) ?? [],
    verbosity: dedup.hint_verbosity ?? hints.default_verbosity,
  }
}
