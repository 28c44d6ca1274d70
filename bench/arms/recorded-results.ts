import type { ResultArm } from '../../src/core/arms/sums.ts'
import { scanRequest } from '../../src/core/conversation/parse/scan-request.ts'
import { FollowUps } from '../../src/core/conversation/rewrite/follow-ups.ts'
import { rewriteByItself } from '../../src/core/conversation/rewrite/rewrite-text.ts'
import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { turnBody } from '../turns/bodies.ts'
import { conversationsOf } from '../turns/conversations.ts'

/** A recorded result that would be elided, with what its agent did after it. */
export interface RecordedResult {
  /** Tokens that elision would leave out of it. */
  readonly direct: number
  /** Tokens of the calls that came back to it within the window; the agent saw all of it. */
  readonly cost: number
  readonly hasFollowUp: boolean
}

const MODEL = 'gpt-5'
const LIMITS = { maxBytes: 1 << 28, maxDepth: 64, maxValues: 1_000_000 }

/** The results of each recorded conversation that has any which would be elided. */
export function recordedResults(corpus: string): readonly (readonly RecordedResult[])[] {
  const context = { ...createLocalContext(), keepsOriginals: true }
  const counter = context.counters.get('openai_o200k')
  const found: (readonly RecordedResult[])[] = []
  for (const { steps } of conversationsOf(corpus)) {
    const turn = { end: steps.length, before: 0 }
    const terms = { model: MODEL, tools: [] }
    const { bytes } = turnBody('anthropic_messages', steps, turn, terms)
    const scanned = scanRequest(bytes, 'anthropic_messages', LIMITS)!
    const followUps = new FollowUps({
      mutating: DEFAULT_PIPELINE.dedup.mutating_tools,
      retrieving: DEFAULT_PIPELINE.elision.redeem_tools,
      start: scanned.messages[0]?.start ?? 0,
      count: text => counter.count(text),
    })
    for (const [index, result] of scanned.results.entries()) {
      const { tool, isError } = result
      const call = { ...(tool === undefined ? {} : { tool }), args: result.args() }
      const source = { text: result.text(), from: 'tool', call, isError } as const
      const { answer } = rewriteByItself(source, { model: MODEL }, context, { mayElide: true })
      const direct = answer.savings.elided_tokens
      // Named by its place, so that what comes back to it is told apart.
      const arm: ResultArm = { class: String(index), isWhole: true, direct, share: 0.5 }
      const sent = { literal: null, markers: [], ...(direct > 0 ? { arm } : {}) }
      followUps.pass(result, sent, false)
    }
    const byResult = Map.groupBy(followUps.uncounted().arms, each => each.class)
    const results = [...byResult.values()].map((deltas): RecordedResult => {
      const sum = (name: 'direct' | 'wc' | 'wy') =>
        deltas.reduce((all, { sums }) => all + sums[name], 0)
      // The weight of a result is 2 here.
      return { direct: sum('direct'), cost: sum('wc') / 2, hasFollowUp: sum('wy') > 0 }
    })
    if (results.length > 0) found.push(results)
  }
  return found
}
