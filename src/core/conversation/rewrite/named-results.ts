import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import { findLookAlikes } from '../../hints/look-alikes.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { PipelineConfig } from '../../pipeline/profile/pipeline-config.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { createResultKeys } from './result-keys.ts'
import type { ConversationContext } from './rewrite-context.ts'
import type { TurnMemory } from './turn-memory.ts'

/** The results of a request by their names, and who can retrieve what is left out of them. */
export interface NamedResults {
  readonly keys: readonly string[]
  readonly retrievingTools: readonly string[]
  readonly canRetrieve: boolean
  /** Whether the request lets the model do so; if not, it gets all of what is new. */
  readonly mayRetrieve: boolean
  /** Whether the provider may leave out earlier results by itself. */
  readonly forgets: boolean
}

/**
 * Names the results. What is computed beside has names that no request that leaves has.
 * @param hasOwnTool whether the proxy adds a tool that retrieves them
 */
export function nameResults(
  scanned: ScannedRequest,
  context: ConversationContext,
  hasOwnTool: boolean,
): NamedResults {
  const { tools, callable, mayCallAdded } = scanned
  const { rewrites, terms } = context
  const pipeline: PipelineConfig = context.pipeline ?? DEFAULT_PIPELINE
  const { model = terms?.model } = scanned
  const { ownTools = tools } = pipeline
  const retrievingTools = pipeline.elision.redeem_tools
  // Another gateway's tool of the same name fetches from a store that has none of our originals.
  const retrieves = (tool: string) => isRetrieving(tool, retrievingTools) && ownTools.includes(tool)
  const canRetrieve = hasOwnTool || tools.some(retrieves)
  const forgets = scanned.forgets || terms?.forgets === true
  const beside = terms?.beside === undefined ? [] : ['beside']
  const mayRetrieve = hasOwnTool ? mayCallAdded : callable.some(retrieves)
  const all = JSON.stringify([rewrites?.tenant, model, forgets, canRetrieve, ...beside])
  return {
    keys: keysOf(scanned, all, rewrites?.turns),
    retrievingTools,
    canRetrieve,
    forgets,
    mayRetrieve,
  }
}

/** The name of each result. */
function keysOf(
  scanned: ScannedRequest,
  terms: string,
  turns: TurnMemory | undefined,
): readonly string[] {
  const { body, results } = scanned
  const known = turns?.knownKeys(scanned, terms) ?? []
  const keys = createResultKeys(body, terms)
  keys.resume(known)
  const names = [...known, ...results.slice(known.length).map(result => keys.next(result))]
  turns?.keep({ scanned, terms, keys: names })
  return names
}

/** No format saves a token of a shorter literal. */
const MIN_LITERAL_BYTES = 24

/**
 * Whether a result is neither rewritten nor recorded: it is short, or an original that was fetched
 * back. Such a result still must not look like a hint of ours.
 */
export function isLeftAlone(result: ToolResultText, retrievingTools: readonly string[]): boolean {
  const isShort = result.end - result.start < MIN_LITERAL_BYTES
  const isOriginal = isRetrieving(result.tool, retrievingTools)
  return (isShort || isOriginal) && findLookAlikes(result.text()).length === 0
}
