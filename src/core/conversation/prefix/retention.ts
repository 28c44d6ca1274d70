import { dialectOfBody } from '../../dialects/lookup.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { DEFAULT_PIPELINE } from '../../pipeline/profile/default-pipeline.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { cacheLifeOf } from '../usage/billing.ts'

/** What a request says that shall be kept for a day. */
export const RETENTION = '"prompt_cache_retention":"24h",'
const NAMED = ['prompt_cache_retention', 'prompt_cache_options']
/** By `prices.toml`: of models before GPT-5.6, to whose cache writing is free. */
const FREE_LIFE_SECONDS = 3_600

/** Whether a request to OpenAI may ask to be kept for a day, at no other price. */
export function mayRetain(
  { body, route, model }: ScannedRequest,
  { terms, pipeline = DEFAULT_PIPELINE }: ConversationContext,
): boolean {
  const { openai, hosts } = pipeline.cache_life
  if (openai === 'client' || terms?.paysByToken !== true || terms.countsOnly === true) return false
  const dialect = dialectOfBody(route)
  if (dialect.retains !== true) return false
  const host = terms.placesAt ?? ''
  const life = cacheLifeOf(terms.cacheLives ?? [], model ?? terms.model)
  const isNamed = NAMED.some(name => body.includes(`"${name}"`))
  return (host === dialect.host || hosts.includes(host)) && life === FREE_LIFE_SECONDS && !isNamed
}

/** Asks for it, before all else that the request says. */
export function retain({ request: { start } }: ScannedRequest): Replacement {
  return { start, end: start + 1, literal: Buffer.from(`{${RETENTION}`) }
}
