import { hash } from 'node:crypto'
import type { FreshRecord } from '../../contract/operation-result.ts'
import { CONFIGURATION_ITEM } from '../../dialects/bodies/openai-responses.ts'
import { bodyRules } from '../../dialects/lookup.ts'
import { itemsOf, type JsonNode, memberOf, textOf } from '../../json/bytes/json-node.ts'
import { LOWER_F } from '../../json/char-codes.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { PipelineConfig } from '../../pipeline/profile/pipeline-config.ts'
import { isRetrieving } from '../../pipeline/profile/retrieving-tools.ts'
import type { Steering } from '../../pipeline/profile/steering-section.ts'
import { headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import { retrieveDefinition } from '../retrieve/retrieve-tool.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { recall } from '../rewrite/rewrite-result.ts'
import {
  NOTHING_SAVED,
  type StoredRewrite,
  storedFact,
  writeStored,
} from '../rewrite/stored-rewrite.ts'
import { DAY_MS, HOUR_MS } from '../usage/life-rules.ts'
import { type Deferral, deferralFor } from './defer-tools.ts'
import { type LongerLife, longerLife } from './longer-life.ts'
import { notePace, type Pace } from './pace.ts'
import { isKnownHost, mayPlace } from './place-breakpoint.ts'
import { mayRetain } from './retention.ts'

/** What is done to a conversation's requests besides their results, from its first request on. */
interface Levers {
  readonly steering?: Steering
  readonly normalise?: true
  /** The definition of our tool, whose calls the proxy answers: JSON, the same in each request. */
  readonly ownTool?: string
  /** Whether its requests get a cache breakpoint. */
  readonly place?: true
  /** Whether OpenAI is asked to keep it for a day. */
  readonly retention?: true
  /** Whether its cache shall live longer. */
  readonly life?: LongerLife
  /** Tools that its model does not see until it loads them. */
  readonly defer?: Deferral
}

/** The levers of one request, and how their decisions are recorded. */
export interface LeversInForce extends Levers {
  /** The recorded decision, or the one that is made now. */
  decide<Decision extends object>(name: string, make: () => Decision): Decision
  /** How fast the conversation goes; `null`: no lever asks. */
  readonly pace: Pace | null
  /** Whether its cache is to live for an hour by now. */
  readonly isLong: boolean
  /** How long what we ask for lets it live, in milliseconds; 0: as its client asks. */
  readonly lifeMs: number
  /** Decisions that were made for the first time. */
  readonly records: readonly FreshRecord[]
}

const NONE: Levers = {}
const NOTHING = new Uint8Array(0)

/**
 * The levers of a conversation: those that were in force when it began. A conversation that began
 * without them stays without, whatever the configuration says later.
 * @param conversation its name
 * @returns `null` if nothing is to be done
 */
export function leversOf(
  scanned: ScannedRequest,
  conversation: string,
  context: ConversationContext,
): LeversInForce | null {
  const { rewrites } = context
  // What is computed beside does not leave.
  if (context.terms?.beside !== undefined) return null
  if (rewrites === undefined || headRulesOf(scanned.route) === undefined) return null
  const name = nameOf(scanned, conversation)
  if (name === null) return null
  const { tenant, memory } = rewrites
  const keyOf = (what: string) => leverKey(tenant, scanned, name, what)
  // A later request only repeats what its first one recorded.
  const wanted = isNew(scanned) && !context.isPaused ? wantedFor(scanned, context) : NONE
  // One that is under way may have begun with levers, before they were switched off.
  if (wanted === NONE && isNew(scanned) && recall(keyOf(''), context) === null) return null
  const records: FreshRecord[] = []
  function decide<Decision extends object>(what: string, make: () => Decision): Decision {
    const key = keyOf(what)
    const literal = recall(key, context)?.literal
    if (literal != null) return JSON.parse(Buffer.from(literal).toString()) as Decision
    const made = make()
    const bytes = writeStored({ ...NO_RESULT, literal: Buffer.from(JSON.stringify(made)) })
    records.push({ key, bytes, position: memory.place(key, bytes) })
    return made
  }
  const levers = decide('', () => wanted)
  const isGuarded = levers.life === 'guarded'
  // The step to an hour, which another process may have taken.
  const step = keyOf('hour')
  const took = isGuarded ? recall(step, context) !== null : undefined
  const counts = levers.place === true || isGuarded
  const pace = counts ? notePace(scanned, keyOf('pace'), took, context) : null
  if (took === false && pace!.isLong) {
    const bytes = writeStored(storedFact({}))
    records.push({ key: step, bytes, position: memory.place(step, bytes) })
  } else if (took === false && !pace!.follows) {
    records.push({ key: step, bytes: NOTHING, position: null, isQuestion: true })
  }
  // The upstream may have refused it meanwhile.
  const isHour = levers.life === 'hour' || pace?.isLong === true
  const isLong = isHour && isKnownHost(scanned, context)
  const lifeMs = isLong ? HOUR_MS : levers.retention === true ? DAY_MS : 0
  return { ...levers, decide, pace, isLong, lifeMs, records }
}

/** The levers of a conversation that begins with this request. */
function wantedFor(scanned: ScannedRequest, context: ConversationContext): Levers {
  const own = withPlace(scanned, wantedBy(context.pipeline), context)
  const wanted = withLife(scanned, withOwnTool(scanned, own, context), context)
  const defer = deferralFor(scanned, context)
  return defer === undefined ? wanted : { ...wanted, defer }
}

function withLife(scanned: ScannedRequest, wanted: Levers, context: ConversationContext): Levers {
  if (mayRetain(scanned, context)) return { ...wanted, retention: true }
  const life = longerLife(scanned, wanted.ownTool !== undefined, context)
  return life === undefined ? wanted : { ...wanted, life }
}

/** Only a conversation whose first request has no breakpoint gets any. */
function withPlace(scanned: ScannedRequest, wanted: Levers, context: ConversationContext): Levers {
  if (wanted.place === undefined || mayPlace(scanned, context)) return wanted
  const { place: _, ...others } = wanted
  return Object.keys(others).length === 0 ? NONE : others
}

/**
 * Our tool joins tools of the client only. A client that has it already fetches by itself. An input
 * that is one text cannot be continued.
 */
function withOwnTool(
  scanned: ScannedRequest,
  wanted: Levers,
  { terms, pipeline = DEFAULT_PIPELINE }: ConversationContext,
): Levers {
  const { body, request, route, tools, read } = scanned
  // A provider that keeps the conversation would have calls of ours without answers.
  const isKept = bodyRules(route).mayBeKept === true && !isFalse(body, memberOf(request, 'store'))
  const canAdd = terms?.addsTool === true && toolList(scanned) !== undefined && !isKept
  if (!canAdd || read.length === 0) return wanted
  const { redeem_tools: names } = pipeline.elision
  const ownTool = retrieveDefinition(route)
  const isKnown = tools.some(tool => isRetrieving(tool, names))
  return isKnown || ownTool === undefined ? wanted : { ...wanted, ownTool }
}

function leverKey(tenant: string, { route }: ScannedRequest, name: string, what: string): string {
  return hash('sha256', JSON.stringify(['levers', what, tenant, route, name]), 'hex')
}

/** The key of a conversation's levers; `undefined` if it can have none. */
export function leversKey(
  scanned: ScannedRequest,
  conversation: string,
  { rewrites }: ConversationContext,
): string | undefined {
  if (rewrites === undefined || headRulesOf(scanned.route) === undefined) return undefined
  const name = nameOf(scanned, conversation)
  return name === null ? undefined : leverKey(rewrites.tenant, scanned, name, '')
}

/** Whether a record says that a conversation has no levers. */
export function hasNoLever({ literal }: StoredRewrite): boolean {
  return literal !== null && Buffer.from(literal).toString() === JSON.stringify(NONE)
}

/** A decision is recorded as the rewrite of no result. */
const NO_RESULT = { saved: NOTHING_SAVED, isSource: false, markers: [], digest: 0, sent: 0 }

const known = new WeakMap<PipelineConfig, Levers>()

function wantedBy(pipeline: PipelineConfig | undefined): Levers {
  if (pipeline === undefined) return NONE
  const wanted = known.get(pipeline) ?? leversIn(pipeline)
  known.set(pipeline, wanted)
  return wanted
}

function leversIn(pipeline: PipelineConfig): Levers {
  const { steering, cache_align, cache_life } = pipeline
  const { normalise } = cache_align
  const { place } = cache_life
  const { verbosity, effort, mechanical_effort: mechanical } = steering
  const hasEffort = (effort ?? mechanical) !== undefined
  const steers = verbosity !== 'balanced' || hasEffort
  if (!steers && !normalise && !place) return NONE
  return {
    ...(steers && { steering }),
    ...(normalise && { normalise }),
    ...(place && { place }),
  }
}

/** Longer keys are no provider's. */
const MAX_KEY_BYTES = 1_024

/**
 * What names the conversation in each of its requests. A request of Responses may have only what is
 * new: then nothing but its cache key does. `null`: nothing does.
 */
function nameOf({ body, route, request, continues }: ScannedRequest, conversation: string) {
  if (bodyRules(route).mayBeKept !== true) return conversation
  const key = memberOf(request, 'prompt_cache_key')
  const isShort = key !== undefined && key.end - key.start <= MAX_KEY_BYTES
  const text = isShort ? textOf(body, key) : undefined
  if (text !== undefined && text !== '') return `key ${text}`
  // If the provider stores it, the next request may continue it by its id.
  const isStored = !isFalse(body, memberOf(request, 'store'))
  return isStored || continues !== undefined ? null : conversation
}

function isFalse(body: Buffer, node: JsonNode | undefined): boolean {
  return node !== undefined && body[node.start] === LOWER_F
}

const ASKING: ReadonlySet<string | undefined> = new Set(['user', 'system', 'developer'])
/** What Gemini CLI and agents made from it let the model say before they ask it anything. */
const GREETING = '"Got it. Thanks for the context!"'
const MAX_GREETING_BYTES = 256

/** Whether the model has said nothing yet. */
export function isNew({ body, read, continues }: ScannedRequest): boolean {
  if (continues !== undefined) return false
  return read.every(node => {
    const isGreeting = () =>
      node.end - node.start <= MAX_GREETING_BYTES &&
      body.subarray(node.start, node.end).includes(GREETING)
    const isUpdate = () => textOf(body, memberOf(node, 'type')) === CONFIGURATION_ITEM
    return ASKING.has(textOf(body, memberOf(node, 'role'))) || isUpdate() || isGreeting()
  })
}

/** The list that our tool joins: that of the request, or the first in items that open its input. */
export function toolList({ request, read, opening }: ScannedRequest): JsonNode | undefined {
  const lists = [request, ...read.slice(0, opening)].map(node => memberOf(node, 'tools'))
  return lists.find(list => itemsOf(list).length > 0)
}
