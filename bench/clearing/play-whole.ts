import { hash } from 'node:crypto'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { argumentLines, linesIn } from '../../src/core/conversation/rewrite/quoted-lines.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../src/core/conversation/rewrite/rewrite-request.ts'
import type { TokenPrices } from '../../src/core/conversation/usage/billing.ts'
import { parseHint } from '../../src/core/hints/hint-line.ts'
import type { PipelineConfig } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { isRetrieving } from '../../src/core/pipeline/profile/retrieving-tools.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import type { ContextResult } from '../lines/recording.ts'
import { createFollower } from '../turns/follow-messages.ts'
import { createPromptCache } from '../turns/prompt-cache.ts'
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
  /** For cleared results that later edits quote, as if each was fetched back once. */
  billedFetches: number
  fetched: number
  /** Turns that do not begin with the turn before, and those of them that clear results. */
  changes: number
  steps: number
}

export const billOf = ({ billed, billedFetches }: Played): number => billed + billedFetches

/** What a token costs, and how many results a turn has. */
export interface PlayTerms {
  readonly prices: TokenPrices
  readonly each: number
}

/**
 * Plays a whole conversation through one thread.
 * @param pipeline `null`: requests are not rewritten
 * @throws Error if a text refers to a cleared result
 */
export function playWhole(
  steps: readonly ContextResult[],
  pipeline: PipelineConfig | null,
  { prices, each }: PlayTerms,
): Played {
  const tools = [...new Set(steps.map(({ tool }) => tool)), RETRIEVING_TOOL]
  const follower = createFollower(ROUTE, text => counter.count(text))
  const cache = createPromptCache(prices)
  const rewrite = pipeline === null ? (bytes: Uint8Array) => bytes : rewriterFor(pipeline)
  const played = { turns: 0, billed: 0, billedFetches: 0, fetched: 0, changes: 0, steps: 0 }
  const cleared = new Set<number>()
  const turns = Math.ceil(steps.length / each)
  let before = 0
  for (let turn = 1; turn <= turns; turn++) {
    const end = Math.min(steps.length, turn * each)
    const body = parallelTurnBody(steps, { end, each }, tools)
    const { messages, changedAt, scanned } = follower.advance(rewrite(body.bytes))
    played.turns++
    played.billed += cache.bill(messages, body.breakpoints).billed
    const lines = quotedLines(steps, before, end, cleared)
    for (const index of cleared) {
      const text = steps[index]!.text
      if (!linesIn(text).some(line => lines.has(line))) continue
      cleared.delete(index)
      played.fetched++
      const price = prices.cache_write + (turns - turn) * prices.cache_read
      played.billedFetches += counter.count(text) * price
    }
    const texts = scanned.results.map(result => result.text())
    played.changes += changedAt === null ? 0 : 1
    if (noteStubs(texts, steps, cleared)) played.steps++
    before = end
  }
  return played
}

/** Rewrites the turns of one conversation as a service does. */
function rewriterFor(pipeline: PipelineConfig): (bytes: Uint8Array) => Uint8Array {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 16 << 20 }))
  const context = {
    ...local,
    pipeline,
    terms: { redeems: true, bypass: false },
    rewrites: { tenant: '', memory, recalled: {}, history: createHistoryMemory(1) },
  }
  return bytes => {
    const rewritten = rewriteRequest(bytes, ROUTE, LIMITS, context)
    for (const { position } of rewritten.records) {
      if (position === null) throw new Error('the memory is full')
      memory.confirm(position)
    }
    if (rewritten.report.prefix_changed === true) throw new Error('a prefix changed unplanned')
    return rewritten.bytes
  }
}

const isEdit = (tool: string) => isRetrieving(tool, ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'])

/** Lines of a turn's edits that are nowhere in the agent's context but in cleared results. */
function quotedLines(
  steps: readonly ContextResult[],
  before: number,
  end: number,
  cleared: ReadonlySet<number>,
): ReadonlySet<string> {
  if (cleared.size === 0) return new Set()
  const edits = steps.slice(before, end).filter(({ tool }) => isEdit(tool))
  const lines = new Set(argumentLines(edits.map(({ args }) => oldTextsOf(args))))
  const gone = (index: number) => cleared.has(index)
  for (const [index, { text, args }] of steps.slice(0, before).entries()) {
    for (const line of argumentLines([args])) lines.delete(line)
    if (!gone(index)) for (const line of linesIn(text)) lines.delete(line)
  }
  return lines
}

/** What an edit quotes; all of its arguments have what it writes too. */
function oldTextsOf(args: unknown): unknown {
  const { old_string, edits } = (args ?? {}) as { old_string?: unknown; edits?: unknown[] }
  return [old_string, edits?.map(oldTextsOf)]
}

/** Stubs of earlier turns, by conversation. */
const stubsOf = new WeakMap<ReadonlySet<number>, Set<number>>()

/** Notes results that are stubs now. Returns whether there are new ones. */
function noteStubs(
  texts: readonly string[],
  steps: readonly ContextResult[],
  cleared: Set<number>,
): boolean {
  const known = stubsOf.get(cleared) ?? new Set<number>()
  stubsOf.set(cleared, known)
  const size = known.size
  const gone = new Set<string>()
  const there = new Set<string>()
  for (const [index, text] of texts.entries()) {
    const name = hash('sha256', steps[index]!.text, 'hex').slice(0, REF_DIGITS)
    const hint = parseHint(text)
    const isStub = hint?.family === 'elision' && hint.summary !== undefined
    if (!isStub) there.add(name)
    else gone.add(name)
    if (!isStub || known.has(index)) continue
    known.add(index)
    cleared.add(index)
  }
  for (const text of texts) {
    for (const [, ref = ''] of text.matchAll(/^> \[ref ([0-9a-f]{8})/gm)) {
      if (gone.has(ref) && !there.has(ref)) throw new Error(`a reference to a stub: ${text}`)
    }
  }
  return known.size > size
}
