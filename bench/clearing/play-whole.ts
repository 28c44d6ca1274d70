import { hash } from 'node:crypto'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../src/core/conversation/rewrite/rewrite-request.ts'
import type { TokenPrices } from '../../src/core/conversation/usage/billing.ts'
import { parseHint } from '../../src/core/hints/hint-line.ts'
import type { PipelineConfig } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import type { ContextResult } from '../lines/recording.ts'
import { createFollower } from '../turns/follow-messages.ts'
import { createPromptCache } from '../turns/prompt-cache.ts'
import { createNeeds } from './needs.ts'
import { parallelTurnBody } from './parallel-turns.ts'

const RETRIEVING_TOOL = 'haversack_retrieve'
const LIMITS = { maxBytes: 1 << 26, maxDepth: 512, maxValues: 1_000_000 }
const ROUTE = 'anthropic_messages'
/** Hexadecimal digits by which a reference names a text, at least. */
const REF_DIGITS = 8

const local = { ...createLocalContext(), keepsOriginals: true }
const counter = local.counters.get('openai_o200k')

/** What a conversation cost, in uncached input tokens. */
export interface Played {
  turns: number
  billed: number
  /** For texts that later edits quote and that were left out or cleared: each is fetched once. */
  billedFetches: number
  fetched: number
  /** Turns that do not begin with the turn before, and those of them that clear results. */
  changes: number
  steps: number
}

export const billOf = ({ billed, billedFetches }: Played): number => billed + billedFetches

/** What a conversation is played with. */
export interface PlayTerms {
  readonly prices: TokenPrices
  /** Results that a turn has. */
  readonly each: number
  /** Which share of a needed text is fetched. */
  readonly share: number
  /** How long the provider's cache keeps a prefix that is not used. */
  readonly lifeSeconds: number
}

/**
 * Plays a whole conversation through one thread.
 * @param pipeline `null`: requests are not rewritten
 * @throws Error if a text refers to a cleared result
 */
export function playWhole(
  steps: readonly ContextResult[],
  pipeline: PipelineConfig | null,
  { prices, each, share, lifeSeconds }: PlayTerms,
): Played {
  const tools = [...new Set(steps.map(({ tool }) => tool)), RETRIEVING_TOOL]
  const follower = createFollower(ROUTE, text => counter.count(text))
  const cache = createPromptCache(prices, lifeSeconds)
  const rewrite: Rewrite = pipeline === null ? bytes => bytes : rewriterFor(pipeline)
  const played = { turns: 0, billed: 0, billedFetches: 0, fetched: 0, changes: 0, steps: 0 }
  const needs = createNeeds()
  const stubs = new Set<number>()
  const turns = Math.ceil(steps.length / each)
  const spoken = new Set<number>()
  let before = 0
  let seconds = 0

  /** Sends so many steps. Returns the texts of their results. */
  const send = (end: number): readonly string[] => {
    const body = parallelTurnBody(steps, { end, each, spoken }, tools)
    const { messages, changedAt, scanned } = follower.advance(rewrite(body.bytes, seconds))
    played.billed += cache.bill(messages, body.breakpoints, seconds).billed
    const texts = scanned.results.map(result => result.text())
    played.changes += changedAt === null ? 0 : 1
    const gone = newStubs(texts, steps, stubs)
    for (const index of gone) needs.clear(index)
    if (gone.length > 0) played.steps++
    return texts
  }

  for (let turn = 1; turn <= turns; turn++) {
    const end = Math.min(steps.length, turn * each)
    played.turns++
    const last = seconds
    // If the cache forgets nothing, no time passes: a service that counts on its life would be wrong.
    if (lifeSeconds < Number.POSITIVE_INFINITY) {
      seconds = Math.max(seconds, timeOf(steps[end - 1]!) ?? seconds)
    }
    const isPause = last > 0 && seconds - last > lifeSeconds
    // No one waits so long for a tool that is quick, so the user has been away.
    if (isPause && !steps.slice(before, end).some(({ tool }) => SLOW.test(tool))) {
      spoken.add(before)
      send(before)
    }
    const texts = send(end)
    // The calls of this turn were written with the turn before in sight.
    for (const index of pipeline === null ? [] : needs.fetchFor(steps.slice(before, end))) {
      played.fetched++
      const price = prices.cache_write + (turns - turn) * prices.cache_read
      played.billedFetches += share * counter.count(steps[index]!.text) * price
    }
    for (let at = before; at < end; at++) needs.pass(steps[at]!, texts[at]!)
    before = end
  }
  return played
}

/** When a result was recorded, in seconds; `null` if that is not known. */
function timeOf({ ts }: ContextResult): number | null {
  const time = Date.parse(ts ?? '') / 1_000
  return Number.isNaN(time) ? null : time
}

/** Tools that may run for minutes. */
const SLOW = /^(?:bash|agent|task|ask\w*|\w*shell|\w*output|web\w+|mcp\w*)$/i

/** Rewrites a body that is sent at a time, in seconds. */
type Rewrite = (bytes: Uint8Array, seconds: number) => Uint8Array

/** Rewrites the turns of one conversation as a service does. */
function rewriterFor(pipeline: PipelineConfig): Rewrite {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 16 << 20 }))
  const context = {
    ...local,
    pipeline,
    terms: { redeems: true, bypass: false },
    rewrites: {
      ...{ tenant: '', memory, recalled: {}, history: createHistoryMemory(1) },
      now: () => 1_000 * time,
    },
  }
  let time = 0
  return (bytes, seconds) => {
    time = seconds
    const rewritten = rewriteRequest(bytes, ROUTE, LIMITS, context)
    for (const { position, isQuestion } of rewritten.records) {
      if (isQuestion === true) continue
      if (position === null) throw new Error('the memory is full')
      memory.confirm(position)
    }
    if (rewritten.report.prefix_changed === true) throw new Error('a prefix changed unplanned')
    return rewritten.bytes
  }
}

/**
 * Results that are stubs for the first time.
 * @param known those of earlier turns; the new ones are added
 * @throws Error if a text refers to one
 */
function newStubs(
  texts: readonly string[],
  steps: readonly ContextResult[],
  known: Set<number>,
): readonly number[] {
  const found: number[] = []
  const gone = new Set<string>()
  const there = new Set<string>()
  for (const [index, text] of texts.entries()) {
    const name = hash('sha256', steps[index]!.text, 'hex').slice(0, REF_DIGITS)
    const hint = parseHint(text)
    const isStub = hint?.family === 'elision' && hint.summary !== undefined
    if (!isStub) there.add(name)
    else gone.add(name)
    if (isStub && !known.has(index)) found.push(index)
  }
  for (const index of found) known.add(index)
  for (const text of texts) {
    for (const [, ref = ''] of text.matchAll(/^> \[ref ([0-9a-f]{8})/gm)) {
      if (gone.has(ref) && !there.has(ref)) throw new Error(`a reference to a stub: ${text}`)
    }
  }
  return found
}
