import { conversationName } from '../messages/conversation-name.ts'
import type { ReadLimits } from '../messages/read-json.ts'
import { type RouteName, type ScannedRequest, scanRequest } from '../messages/scan-request.ts'
import { literalOf, type Replacement, splice } from '../messages/splice.ts'
import type { ToolResultText } from '../messages/tool-result-text.ts'
import type { FreshRecord } from '../operations/byte-operation.ts'
import type { OperationContext, RewriteReport } from '../operations/operation.ts'
import type { History } from './history.ts'
import type { MessageText } from './message-texts.ts'
import { isRedeeming } from './redeeming-tools.ts'
import { createResultKeys } from './result-keys.ts'
import { type Counting, rewriteLossless } from './rewrite-text.ts'
import { type Saving, savedPlaces } from './saved-places.ts'
import {
  digestOf,
  readStored,
  type StoredRewrite,
  sumOfSent,
  writeStored,
} from './stored-rewrite.ts'

/** A request body, and what was done to it. */
export interface RewrittenRequest {
  /** The very body where nothing changes. */
  readonly bytes: Uint8Array
  readonly report: RewriteReport
  /** What was decided for the first time. */
  readonly records: readonly FreshRecord[]
}

/**
 * Writes the tool results of a request body smaller. What stands for one depends on its text and its call, the results before it, the
 * model and the configuration; where it is on record how one was sent before, in this conversation or one that began alike, it is
 * sent like that again. So the bytes of a conversation that goes on begin as they did before, and the provider's
 * prompt cache finds them. Every other byte stays.
 */
export function rewriteRequest(
  body: Uint8Array,
  route: RouteName,
  limits: ReadLimits,
  context: OperationContext,
): RewrittenRequest {
  const scanned = scanRequest(body, route, limits)
  if (scanned === null) {
    const report = { readable: false, texts: 0, rewritten: 0, tokens_saved: 0 }
    return { bytes: body, report, records: [] }
  }
  const { replacements, savings, records, isChanged } = rewriteResults(scanned, context)
  const bytes = splice(body, replacements)
  const report: RewriteReport = {
    readable: true,
    texts: scanned.results.length,
    rewritten: replacements.length,
    tokens_saved: savings.reduce((sum, { tokens }) => sum + tokens, 0),
    prefix_changed: isChanged,
    conversation: conversationName(scanned),
    saved: savedPlaces(scanned, savings),
  }
  return { bytes, report, records }
}

/** What becomes of the results of a conversation. */
interface RewrittenResults {
  readonly replacements: readonly Replacement[]
  readonly savings: readonly Saving[]
  readonly records: readonly FreshRecord[]
  /** Whether a result that was sent before follows others than it did. */
  readonly isChanged: boolean
}

function rewriteResults(scanned: ScannedRequest, context: OperationContext): RewrittenResults {
  const { body, model, results } = scanned
  const { rewrites } = context
  const counting: Counting = model === undefined ? {} : { model }
  const keys = createResultKeys(body, [rewrites?.tenant, model, scanned.forgets])
  const replacements: Replacement[] = []
  const savings: Saving[] = []
  const records: FreshRecord[] = []
  const history = scanned.forgets ? undefined : rewrites?.history?.begin()
  let sum = 0
  let isChanged = false
  for (const result of results) {
    const key = keys.next(result)
    if (isLeftAlone(result)) {
      history?.add(key, result, { isSource: false })
      continue
    }
    const known = recall(key, context)
    const made = known ?? rewrite(result, { key, counting, history }, context)
    history?.add(key, result, made)
    sum = sumOfSent(sum, made.digest)
    const differs = known !== null && known.sent !== sum
    isChanged ||= differs
    if (known === null || differs) {
      const bytes = writeStored({ ...made, sent: sum })
      const position = rewrites?.memory.place(key, bytes) ?? null
      records.push({ key, bytes, position, ...(differs ? { replaces: true } : {}) })
    }
    const { literal, tokensSaved } = made
    if (literal === null) continue
    const { start, end } = result
    replacements.push({ start, end, literal })
    savings.push({ end, shorter: end - start - literal.length, tokens: tokensSaved })
  }
  return { replacements, savings, records, isChanged }
}

/** Shorter literals always stay as they are: no notation saves a token. */
const MIN_LITERAL_BYTES = 24

function isLeftAlone({ start, end, tool }: ToolResultText): boolean {
  return end - start < MIN_LITERAL_BYTES || isRedeeming(tool)
}

/** How the result was sent before, as far as that is at hand. */
function recall(key: string, { rewrites }: OperationContext): StoredRewrite | null {
  if (rewrites === undefined) return null
  const recalled = rewrites.recalled[key]
  return recalled === undefined ? rewrites.memory.get(key) : readStored(recalled)
}

interface Rewriting {
  /** Names the result. */
  readonly key: string
  readonly counting: Counting
  readonly history: History | undefined
}

/** What stands for a result that comes for the first time. */
function rewrite(
  result: ToolResultText,
  { key, counting, history }: Rewriting,
  context: OperationContext,
): Omit<StoredRewrite, 'sent'> {
  const turn = history?.open(key, result)
  const { answer } = rewriteLossless(sourceOf(result), counting, context, turn?.layer)
  const tokensSaved = answer.tokens.baseline - answer.tokens.final
  const literal = tokensSaved > 0 ? literalOf(answer.content) : null
  return {
    literal,
    tokensSaved: Math.max(0, tokensSaved),
    ...(turn?.written() ?? { isSource: false }),
    elided: [],
    digest: digestOf(literal),
  }
}

function sourceOf(result: ToolResultText): MessageText {
  const { tool, isError } = result
  const args = result.args()
  const call = {
    ...(tool === undefined ? {} : { tool }),
    ...(args === undefined ? {} : { args }),
  }
  return { text: result.text(), from: 'tool', call, isError }
}
