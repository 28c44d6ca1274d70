import type { FreshRecord } from '../../contract/operation-result.ts'
import type { ReadingLevel } from '../../reading/constructs.ts'
import { newFrom } from '../parse/last-turn.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { createResultKeys } from './result-keys.ts'
import type { ConversationContext } from './rewrite-context.ts'
import { recall } from './rewrite-result.ts'
import { storedFact, writeStored } from './stored-rewrite.ts'

/** The configuration that a conversation keeps, with the level that its first request asked for. */
export type KeptGeneration =
  | {
      /** The context with that configuration. */
      readonly context: ConversationContext
      /** Present if the conversation begins with it, or if its record may be lost. */
      readonly record?: FreshRecord
    }
  /** The thread does not have it. */
  | { readonly missing: string }

/**
 * A conversation keeps the configuration and the reading level that it began with. So a result that
 * must be written once more is written as it was, and a prompt cache still finds its prefix. They
 * are recorded under the first result, by its call and text alone. After a compaction another
 * result is the first, and the conversation takes the newest configuration, and the level of that
 * request.
 */
export function keptGeneration(
  scanned: Pick<ScannedRequest, 'body' | 'results' | 'messages'>,
  context: ConversationContext,
): KeptGeneration {
  const { body, results } = scanned
  const { generations, rewrites } = context
  const first = results[0]
  if (generations === undefined || rewrites === undefined || first === undefined) return { context }
  const key = createResultKeys(body, JSON.stringify([rewrites.tenant, 'generation'])).next(first)
  const recordOf = (generation: string, reading: ReadingLevel | undefined) =>
    writeStored(storedFact({ generation, ...(reading && { reading }) }))
  const { generation: id, reading } = recall(key, context) ?? {}
  if (id !== undefined) {
    const pipeline = generations.find(id)
    const isLost = context.terms?.recordsAgain === true && rewrites.recalled[key] === undefined
    const again = { key, bytes: recordOf(id, reading), position: null, generation: id }
    const keeping = withReading(context, reading)
    if (pipeline !== null)
      return { context: { ...keeping, pipeline }, ...(isLost && { record: again }) }
    // Nothing has it any more: another one is better than none.
    return generations.isLost(id) ? { context: keeping } : { missing: id }
  }
  const bytes = recordOf(generations.newest, context.reading)
  const position = rewrites.memory.place(key, bytes)
  const isEarlier = newFrom(scanned) > 0 && { isEarlier: true as const }
  return { context, record: { key, bytes, position, generation: generations.newest, ...isEarlier } }
}

/** The context with a level in place of the one that this request asks for. */
function withReading(
  { reading: _, ...others }: ConversationContext,
  reading: ReadingLevel | undefined,
): ConversationContext {
  return reading === undefined ? others : { ...others, reading }
}
