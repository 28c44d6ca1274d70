import { hash } from 'node:crypto'
import type { ScannedRequest } from '../parse/scan-request.ts'
import { cacheLifeOf } from '../usage/billing.ts'
import type { ConversationContext } from './rewrite-context.ts'
import { type SeenTurn, storedFact, writeStored } from './stored-rewrite.ts'

/** A request with the names of its results. */
interface NamedRequest {
  readonly scanned: Pick<ScannedRequest, 'body' | 'model' | 'modelTurns'>
  readonly keys: readonly string[]
  /** How long what we ask for lets its cache live, in milliseconds; absent: nothing is asked. */
  readonly lifeMs?: number | undefined
}

/** How long a cache is taken to live of which nothing is known, in seconds. */
const UNKNOWN_LIFE = 3_600

/**
 * Whether the provider has forgotten the conversation, because nothing was sent of it for longer
 * than its cache lives. Only a process that has read the turn before knows that, so a process that
 * does not know takes the prefix for cached. Notes the turn for the next one.
 */
export function isCold(request: NamedRequest, context: ConversationContext): boolean {
  const { scanned, lifeMs = 0 } = request
  const idleMs = idleBefore(request, context)
  if (idleMs <= lifeMs) return false
  return idleMs > usualLifeMs(scanned, context) && idleMs > askedLifeMs(scanned.body)
}

/** How long the provider keeps what is not used, if a request asks for nothing, in milliseconds. */
export function usualLifeMs(
  { model }: Pick<ScannedRequest, 'model'>,
  { terms }: ConversationContext,
): number {
  const known = cacheLifeOf(terms?.cacheLives ?? [], model ?? terms?.model)
  return 1_000 * (known ?? UNKNOWN_LIFE)
}

/** How long before this turn the one before was sent, in milliseconds; 0 if that is not known. */
function idleBefore(
  { scanned: { modelTurns }, keys }: NamedRequest,
  { rewrites, terms }: ConversationContext,
): number {
  if (rewrites === undefined || keys.length === 0) return 0
  const { memory, now = Date.now } = rewrites
  const name = hash('sha256', `${keys[0]} turn`, 'hex')
  const before = memory.get(name)?.turn
  const at = now()
  const idleMs = before === undefined ? 0 : idleSince(before, { modelTurns, keys, at })
  if (terms?.countsOnly === true) return idleMs
  const turn = { at, idleMs, modelTurns, results: keys.length, last: keys.at(-1)! }
  const position = memory.place(name, writeStored(storedFact({ turn })), true)
  if (position !== null) memory.confirm(position)
  return idleMs
}

interface ThisTurn {
  readonly modelTurns: number
  readonly keys: readonly string[]
  readonly at: number
}

/** A turn that is read once more, as after an error, comes as long after the one before. */
function idleSince(before: SeenTurn, { modelTurns, keys, at }: ThisTurn): number {
  if (keys[before.results - 1] !== before.last) return 0
  if (modelTurns === before.modelTurns) return before.idleMs
  return modelTurns === before.modelTurns + 1 ? at - before.at : 0
}

/** Members by which a request asks for a longer life. In strings their quotes are escaped. */
const LIFE_KEYS = ['"ttl"', '"prompt_cache_retention"'] as const
const LIFE_VALUE = /^"\w+"\s{0,8}:\s{0,8}"(\d{1,4})([smh])"/
const LIFE_BYTES = 64
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

/** The longest life that a body asks for, in milliseconds; 0 if it asks for none. */
export function askedLifeMs(body: Buffer): number {
  let longest = 0
  for (const key of LIFE_KEYS) {
    for (let at = body.indexOf(key); at !== -1; at = body.indexOf(key, at + key.length)) {
      const [, count, unit] = LIFE_VALUE.exec(body.toString('latin1', at, at + LIFE_BYTES)) ?? []
      if (unit !== undefined) longest = Math.max(longest, Number(count) * UNIT_MS[unit]!)
    }
  }
  return longest
}

/**
 * The name of the step that is taken after a result, before there is another one. The record of the
 * next result has the same step.
 * @param last the name of the result
 */
export function pauseKey(last: string): string {
  return hash('sha256', `${last} pause`, 'hex')
}

/**
 * The name of the step of one turn, none if it is empty.
 * @param last the name of the last result with a record
 */
export function turnKey(last: string, modelTurns: number): string {
  return hash('sha256', `${last} turn ${modelTurns}`, 'hex')
}
