import { builtInPrices } from '../../config/prices.ts'
import { BoundedMap } from '../../core/base/bounded-map.ts'
import type { RequestTerms } from '../../core/contract/request-terms.ts'
import { createHistoryMemory } from '../../core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../core/conversation/rewrite/rewrite-request.ts'
import { cacheLivesOf } from '../../core/conversation/usage/billing.ts'
import { parseHint } from '../../core/hints/hint-line.ts'
import { type LayerSettings, pipelineSchema } from '../../core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../core/sessions/lines/memory-layout.ts'
import { createLocalContext } from '../../library/local-context.ts'
import type { ArmPlay, TextChange } from './account.ts'
import { createNeeds, type NewNeeds } from './needs.ts'
import type { PlacedResult, PlacedSession } from './place-results.ts'

const RETRIEVING_TOOL = 'haversack_retrieve'
const LIMITS = { maxBytes: 1 << 26, maxDepth: 512, maxValues: 1_000_000 }
/** Counts that are kept: a session is counted more than once. */
const MAX_COUNTED = 10_000

const cacheLives = cacheLivesOf('anthropic', builtInPrices())
const local = { ...createLocalContext(), keepsOriginals: true }
const counter = local.counters.get('openai_o200k')
const counted = new BoundedMap<string, number>(MAX_COUNTED)

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
export function play(
  { calls, results }: PlacedSession,
  rewrite: Rewrite,
  newNeeds: NewNeeds = createNeeds,
): ArmPlay {
  const changes: TextChange[] = []
  const fetches: { call: number; result: number }[] = []
  let context: number[] = []
  let needs = newNeeds()
  let places: number[] = []
  const now = new Map<number, number>()
  for (const [at, call] of calls.entries()) {
    if (call.compacted) [context, needs, places] = [[], newNeeds(), []]
    const came = results.flatMap((result, index) => (result.call === at ? [index] : []))
    // These calls were written with the prompt before in sight.
    for (const place of needs.fetchFor(came.map(index => results[index]!))) {
      fetches.push({ call: at - 1, result: places[place]! })
    }
    context = [...context, ...came]
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

export interface ArmTerms extends Pick<RequestTerms, 'clearing'> {
  /** A text is never sent otherwise later, so the last call of a context has all. Default true. */
  readonly isStable?: boolean
}

/** Through the proxy's own rewriting, with the recorded groups, times and cache lives. */
export function pipelineArm(
  settings: LayerSettings,
  redeems: boolean,
  { isStable = true, clearing }: ArmTerms = {},
) {
  const pipeline = pipelineSchema.parse(settings)
  return (session: PlacedSession, newNeeds?: NewNeeds): ArmPlay => {
    const memory = attachRewriteMemory(createBodyMemory({ bytes: 16 << 20 }))
    let seconds = 0
    const context = {
      ...local,
      pipeline,
      terms: { redeems, bypass: false, cacheLives, ...(clearing && { clearing }) },
      rewrites: {
        tenant: '',
        memory,
        recalled: {},
        history: createHistoryMemory(1),
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
    const rewrite: Rewrite = (at, context) => {
      if (!isStable) return sent(at)
      const last = lastOf.get(session.calls[at]!.epoch)!
      if (all?.last !== last) all = { last, texts: sent(last) }
      return all.texts.slice(0, context.length)
    }
    return play(session, rewrite, newNeeds)
  }
}

function isStub(text: string): boolean {
  const hint = parseHint(text)
  return hint?.family === 'elision' && hint.summary !== undefined
}

interface BodyBlock {
  readonly type: string
  readonly content?: string | readonly { readonly text: string }[]
}

function textsIn(body: {
  readonly messages: readonly { readonly content: readonly BodyBlock[] }[]
}) {
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
    if (last?.role === role) last.content = [...last.content, ...content]
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
    model,
    max_tokens: 8192,
    system: [{ ...text('You are an agent.'), ...mark }],
    tools: names.map(name => ({ name, input_schema: { type: 'object' } })),
    messages: messages.filter(({ content }) => content.length > 0),
  }
  return new TextEncoder().encode(JSON.stringify(body))
}

function resultBlock({ text, isError }: PlacedResult, index: number): object {
  const content = { type: 'tool_result', tool_use_id: `call_${index}`, content: text }
  return isError ? { ...content, is_error: true } : content
}

/** What an arm did to a session. @param newNeeds for each context; by default what edits quote */
export type Arm = (session: PlacedSession, newNeeds?: NewNeeds) => ArmPlay

export const LOSSLESS: LayerSettings = { elision: { enabled: false } }
export const CLEARING: LayerSettings = { clearing: { enabled: true } }

/** What the proxies can be set to without leaving out what an agent would have to ask for early. */
export const SHIPPED_ARMS = {
  lossless: pipelineArm(LOSSLESS, false),
  clearing: pipelineArm({ ...LOSSLESS, ...CLEARING }, true, { isStable: false }),
} as const satisfies Readonly<Record<string, Arm>>

/** Every result at no token: no way to write results saves more. */
export const NO_RESULTS: Arm = ({ results }) => ({
  changes: results.map(({ call }, result) => ({ call, result, sent: 0, isAgain: false })),
  fetches: [],
})
