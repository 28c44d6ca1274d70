import type { FreshRecord } from '../../contract/operation-result.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { leversOf } from './levers.ts'
import { normaliseTools } from './normal-tools.ts'
import { steerEffort } from './steer-effort.ts'
import { steerVerbosity } from './steer-verbosity.ts'

/** A lever, as metrics name it. */
export type LeverName = 'verbosity' | 'effort' | 'tools'

/** What is changed in a request besides its results. */
export interface Steered {
  /** In the order of the body. */
  readonly replacements: readonly Replacement[]
  readonly records: readonly FreshRecord[]
  /** Levers that changed something. */
  readonly levers: readonly LeverName[]
}

const UNTOUCHED: Steered = { replacements: [], records: [], levers: [] }

/**
 * Pulls the levers of a conversation: the block for brevity, the effort of reasoning, the order of
 * tools. What they change depends on the request and the conversation's record alone.
 */
export function steerRequest(
  scanned: ScannedRequest,
  conversation: string,
  context: ConversationContext,
): Steered {
  const inForce = leversOf(scanned, conversation, context)
  if (inForce === null) return UNTOUCHED
  const { steering, normalise, records } = inForce
  const { model = context.terms?.model } = scanned
  const verbosity = steering?.verbosity ?? 'balanced'
  const effort = steering === undefined ? null : steerEffort(scanned, steering, model)
  const tools = normalise === true ? normaliseTools(scanned, inForce) : null
  const done: Readonly<Record<LeverName, readonly Replacement[]>> = {
    verbosity: verbosity === 'balanced' ? [] : steerVerbosity(scanned, verbosity),
    effort: effort === null ? [] : [effort],
    tools: tools === null ? [] : [tools],
  }
  return {
    replacements: Object.values(done)
      .flat()
      .sort((a, b) => a.start - b.start),
    records,
    levers: (Object.keys(done) as LeverName[]).filter(lever => done[lever].length > 0),
  }
}
