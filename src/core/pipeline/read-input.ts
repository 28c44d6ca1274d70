import { classify } from '../classify/classify.ts'
import type { LookupResults } from '../contract/lookup.ts'
import { parseJson } from '../json/parse-json.ts'
import type { ReadingLevel } from '../reading/constructs.ts'
import type { SessionContext } from '../sessions/turn/shared-sessions.ts'
import type { TokenCounter } from '../tokens/counter.ts'
import { resolveTokenizer, type TokenizerId } from '../tokens/profiles.ts'
import type { LayerInput } from './layer.ts'
import { createPrices } from './prices.ts'
import type { PipelineConfig } from './profile/pipeline-config.ts'
import { type Profile, resolveProfile } from './profile/resolve.ts'
import type { ProfileQuery } from './profile/sections.ts'

/** The context of the pipeline. Everything in it belongs to the thread that runs it. */
export interface PipelineContext {
  readonly counters: { get(id: TokenizerId): TokenCounter }
  /** Deepest nesting of JSON `content` that is parsed; deeper content passes through. */
  readonly maxDepth: number
  /**
   * Longest decoded content, in UTF-16 code units. The largest request body in bytes is enough for
   * every text that the service encoded, because its input came in such a body.
   */
  readonly maxDecodedChars: number
  /** Whether the texts in an answer's `keep` are kept, so that something may be left out of it. */
  readonly keepsOriginals: boolean
  /** The sessions' recent results, and whose request this is; absent: sessions have no effect. */
  readonly sessions?: SessionContext
  /** How the pipeline chooses; absent: by the built-in defaults. */
  readonly pipeline?: PipelineConfig
  /** The level that came with the request, for each text of it; absent: none did. */
  readonly reading?: ReadingLevel
  /** Everything passes unchanged; absent: it does not. */
  readonly isPaused?: boolean
  /** Results of lookups outside the thread, one entry for each job; absent if there were none. */
  readonly resolutions?: LookupResults
  /** Telemetry is on; absent: it is off. */
  readonly telemetry?: true
}

/** A request whose content is at hand. */
export type ContentRequest = LayerInput['request'] & { readonly content: string }

/** The content parsed, classified and counted: what every layer starts from. */
export function readInput(
  request: ContentRequest,
  context: Pick<PipelineContext, 'maxDepth' | 'counters'>,
): LayerInput {
  const { content } = request
  const parsed = parseJson(content, { maxDepth: context.maxDepth })
  const value = parsed.ok ? parsed.value : undefined
  return {
    request,
    content,
    value,
    isCompact: parsed.ok && parsed.compact,
    shape: classify(content, value),
    prices: createPrices(content, resolveTokenizer(request), context.counters),
  }
}

/** The profile of a request. What it says itself comes before what came with it. */
export function profileOf(
  request: ProfileQuery,
  { pipeline, reading }: Pick<PipelineContext, 'pipeline' | 'reading'>,
): Profile {
  const asked = request.reading ?? reading
  return resolveProfile(pipeline, asked === undefined ? request : { ...request, reading: asked })
}
