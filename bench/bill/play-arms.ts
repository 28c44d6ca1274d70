import { builtInPrices } from '../../src/config/prices.ts'
import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../src/core/conversation/rewrite/rewrite-request.ts'
import { cacheLivesOf } from '../../src/core/conversation/usage/billing.ts'
import { parseHint } from '../../src/core/hints/hint-line.ts'
import {
  type LayerSettings,
  pipelineSchema,
} from '../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import type { ArmPlay, TextChange } from './account.ts'
import { createNeeds, type Needs } from './needs.ts'
import type { PlacedResult, PlacedSession } from './place-results.ts'

const RETRIEVING_TOOL = 'haversack_retrieve'
const LIMITS = { maxBytes: 1 << 26, maxDepth: 512, maxValues: 1_000_000 }
/** What the vendor leaves of a cleared result. */
const STUB_TOKENS = 8

const cacheLives = cacheLivesOf('anthropic', builtInPrices())
const local = { ...createLocalContext(), keepsOriginals: true }
const counter = local.counters.get('openai_o200k')
const counted = new Map<string, number>()

/** o200k tokens. */
export function countTokens(text: string): number {
  let tokens = counted.get(text)
  if (tokens === undefined) {
    tokens = counter.count(text)
    counted.set(text, tokens)
  }
  return tokens
}

/** A result as a call has it. */
interface SentText {
  readonly tokens: number
  /** `null`: nothing is left of it but a stub. */
  readonly text: string | null
}

/** What each result of a call's context is sent as; those that came with it are the last. */
type Rewrite = (at: number, context: readonly number[]) => readonly SentText[]

/** Plays one session, and finds what changed from call to call, and what had to be fetched. */
function play({ calls, results }: PlacedSession, rewrite: Rewrite): ArmPlay {
  const changes: TextChange[] = []
  const fetches: { call: number; result: number }[] = []
  let context: number[] = []
  let needs: Needs = createNeeds()
  let places: number[] = []
  const now = new Map<number, number>()
  for (const [at, call] of calls.entries()) {
    if (call.compacted) [context, needs, places] = [[], createNeeds(), []]
    const came = results.flatMap((result, index) => (result.call === at ? [index] : []))
    // These calls were written with the prompt before in sight.
    for (const place of needs.fetchFor(came.map(index => results[index]!))) {
      fetches.push({ call: at - 1, result: places[place]! })
    }
    context.push(...came)
    for (const [order, { tokens, text }] of rewrite(at, context).entries()) {
      const index = context[order]!
      const isNew = results[index]!.call === at
      if (isNew) {
        places.push(index)
        needs.pass(results[index]!, text ?? '')
      }
      const before = now.get(index) ?? results[index]!.raw
      if (tokens === before) continue
      if (text === null) needs.clear(places.indexOf(index))
      changes.push({ call: at, result: index, sent: tokens, isAgain: !isNew })
      now.set(index, tokens)
    }
  }
  return { changes, fetches: fetches.toSorted((a, b) => a.call - b.call) }
}

/**
 * Through the proxy's own rewriting, with the recorded groups, times and cache lives.
 * @param isStable a text is never sent otherwise later, so that the last call of a context has all
 */
function pipelineArm(settings: LayerSettings, redeems: boolean, isStable = true) {
  const pipeline = pipelineSchema.parse(settings)
  return (session: PlacedSession): ArmPlay => {
    const memory = attachRewriteMemory(createBodyMemory({ bytes: 16 << 20 }))
    let seconds = 0
    const context = {
      ...local,
      pipeline,
      terms: { redeems, bypass: false, cacheLives },
      rewrites: {
        ...{ tenant: '', memory, recalled: {}, history: createHistoryMemory(1) },
        now: () => 1_000 * seconds,
      },
    }
    const lastOf = new Map(session.calls.map(({ epoch }, at) => [epoch, at]))
    const sent = (at: number) => {
      seconds = session.calls[at]!.ts
      const bytes = bodyAt(session, at, redeems)
      const rewritten = rewriteRequest(bytes, 'anthropic_messages', LIMITS, context)
      for (const { position, isQuestion } of rewritten.records) {
        if (isQuestion !== true && position !== null) memory.confirm(position)
      }
      const body = JSON.parse(Buffer.from(rewritten.bytes).toString())
      return textsIn(body).map(text => ({
        tokens: countTokens(text),
        text: isStub(text) ? null : text,
      }))
    }
    let all: { readonly last: number; readonly texts: readonly SentText[] } | null = null
    return play(session, (at, context) => {
      if (!isStable) return sent(at)
      const last = lastOf.get(session.calls[at]!.epoch)!
      if (all?.last !== last) all = { last, texts: sent(last) }
      return all.texts.slice(0, context.length)
    })
  }
}

function isStub(text: string): boolean {
  const hint = parseHint(text)
  return hint?.family === 'elision' && hint.summary !== undefined
}

interface Block {
  readonly type: string
  readonly content?: string | readonly { readonly text: string }[]
}

function textsIn(body: { readonly messages: readonly { readonly content: readonly Block[] }[] }) {
  const blocks = body.messages.flatMap(({ content }) => content)
  return blocks
    .filter(({ type }) => type === 'tool_result')
    .map(({ content = '' }) =>
      typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
    )
}

/** The request of a call: what was said since the last compaction, with results in their groups. */
function bodyAt({ calls, results }: PlacedSession, at: number, redeems: boolean): Uint8Array {
  const { epoch, model, hour } = calls[at]!
  const mark = { cache_control: { type: 'ephemeral', ...(hour > 0 && { ttl: '1h' }) } }
  const text = (said: string) => ({ type: 'text', text: said })
  const groups = Map.groupBy(results.keys(), index => results[index]!.call)
  const messages: { role: string; content: object[] }[] = []
  const say = (role: string, content: object[]) => {
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content })
  }
  say('user', [text('Do what is asked.')])
  for (let each = 0; each <= at; each++) {
    const call = calls[each]!
    const came = groups.get(each) ?? []
    if (call.epoch !== epoch || (came.length === 0 && call.userTexts === 0)) continue
    const uses = came.map(index => {
      const { tool, args } = results[index]!
      return { type: 'tool_use', id: `call_${index}`, name: tool, input: args ?? {} }
    })
    say('assistant', uses.length > 0 ? uses : [text('It is done.')])
    say(
      'user',
      came.map(index => resultBlock(results[index]!, index)),
    )
    if (call.userTexts > 0) say('user', [text('Then go on.')])
  }
  const ends = messages.filter(({ role }) => role === 'user').slice(-2)
  for (const { content } of ends) Object.assign(content.at(-1)!, mark)
  const names = [...new Set(results.map(({ tool }) => tool)), ...(redeems ? [RETRIEVING_TOOL] : [])]
  const body = {
    ...{ model, max_tokens: 8192, system: [{ ...text('You are an agent.'), ...mark }] },
    tools: names.map(name => ({ name, input_schema: { type: 'object' } })),
    messages: messages.filter(({ content }) => content.length > 0),
  }
  return new TextEncoder().encode(JSON.stringify(body))
}

function resultBlock({ text, isError }: PlacedResult, index: number): object {
  const content = { type: 'tool_result', tool_use_id: `call_${index}`, content: text }
  return isError ? { ...content, is_error: true } : content
}

/** Results that stay whole at a call: a number of the newest, when the context asks for it. */
type Kept = (at: number, context: readonly number[], hidden: number) => number | null

/** Old results are stubs from some call on. @param kept `null`: nothing more is hidden */
function hidingArm(kept: (session: PlacedSession, sizeOf: (at: number) => number) => Kept) {
  return (session: PlacedSession): ArmPlay => {
    const hidden = new Set<number>()
    const sizeOf = (at: number) => {
      const less = [...hidden].map(index => session.results[index]!)
      const own = less.filter(({ epoch }) => epoch === session.calls[at]!.epoch)
      return session.calls[at]!.prompt - own.reduce((sum, { tokens }) => sum + tokens, 0)
    }
    const keep = kept(session, sizeOf)
    return play(session, (at, context) => {
      const shown = context.filter(index => !hidden.has(index))
      const left = keep(at, shown, hidden.size)
      const gone = left === null ? [] : shown.slice(0, Math.max(0, shown.length - left))
      for (const index of gone) hidden.add(index)
      return context.map(index => {
        const { raw, text } = session.results[index]!
        return hidden.has(index)
          ? { tokens: Math.min(raw, STUB_TOKENS), text: null }
          : { tokens: raw, text }
      })
    })
  }
}

const KEPT = 10
const STEP = 20
const VENDOR = { tokens: 100_000, keep: 3 }
const LOSSLESS: LayerSettings = { elision: { enabled: false } }
const CLEARING: LayerSettings = { clearing: { enabled: true } }
/** With this price no step pays but those after pauses, as where the proxy fetches originals. */
const PAUSES: LayerSettings = { clearing: { enabled: true, cache_write: 10 } }
/** From 100,000 tokens of the whole prompt on; the played prompts lack some 42,000 of them. */
const PRESSURE: LayerSettings = {
  views: { pressure: [{ from_tokens: 58_000, level: 'standard' }] },
}

export type Arm = (session: PlacedSession) => ArmPlay

/** What is compared with the recorded bill, by name. */
export const ARMS: Readonly<Record<string, Arm>> = {
  direct: () => ({ changes: [], fetches: [] }),
  lossless: pipelineArm(LOSSLESS, false),
  elide: pipelineArm({ elision: { in_proxies: true } }, true),
  clearing: pipelineArm({ ...LOSSLESS, ...CLEARING }, true, false),
  both: pipelineArm({ elision: { in_proxies: true }, ...CLEARING }, true, false),
  pauses: pipelineArm({ ...LOSSLESS, ...PAUSES }, true, false),
  redeem: pipelineArm({ elision: { in_proxies: true }, ...PAUSES }, true, false),
  pressure: pipelineArm({ ...LOSSLESS, ...PRESSURE }, true),
  masking_each_turn: hidingArm(() => () => KEPT),
  masking_in_steps: hidingArm(
    () =>
      (_, { length }) =>
        length >= KEPT + STEP ? KEPT : null,
  ),
  vendor_clearing: hidingArm(
    (_, sizeOf) => at => (sizeOf(at) > VENDOR.tokens ? VENDOR.keep : null),
  ),
}

/** Every result at no token: no way to write results saves more. */
export const NO_RESULTS: Arm = ({ results }) => ({
  changes: results.map(({ call }, result) => ({ call, result, sent: 0, isAgain: false })),
  fetches: [],
})
