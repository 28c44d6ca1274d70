import { setTimeout as wait } from 'node:timers/promises'
import { builtInPrices } from '../../config/prices.ts'
import { isAgreed } from '../../console/ask.ts'
import { UsageError } from '../../console/command.ts'
import { readJsonText } from '../../core/base/read-text.ts'
import { pricesFor } from '../../core/conversation/usage/billing.ts'
import { anthropic } from '../../core/dialects/anthropic.ts'
import type { Finding } from './finding.ts'
import { MOST_WRITTEN_TOKENS, PROMPT_TOKENS, probeCache } from './probe-cache.ts'

const URL = `https://${anthropic.host}/v1/messages`
const MODEL = 'claude-sonnet-5'
const TIMEOUT_MS = 120_000
const MAX_ANSWER_BYTES = 1024 * 1024
const MINUTES = 7

/**
 * Asks Anthropic's API about its cache with the user's key, once the user has agreed to the price.
 * @throws UsageError if there is no key that pays by token, or nothing to ask at
 */
export async function askCache(key: string | undefined, isTold: boolean): Promise<Finding[]> {
  if (!key || key.startsWith(anthropic.vendor.subscriptionPrefix)) {
    throw new UsageError('--cache needs an API key of yours in ANTHROPIC_API_KEY')
  }
  process.stderr.write(`${priceLine()}\n`)
  if (!isTold && !(await isAgreed('Ask?'))) return []
  const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  const started = performance.now()
  return probeCache({
    model: MODEL,
    seed: new Date().toISOString(),
    async ask(body) {
      const options = { method: 'POST', body: JSON.stringify(body), redirect: 'error' } as const
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const type = { 'content-type': 'application/json' }
      const answer = await fetch(URL, { ...options, signal, headers: { ...headers, ...type } })
      return { status: answer.status, body: await readJsonText(answer.body, MAX_ANSWER_BYTES) }
    },
    until: ms => wait(Math.max(0, started + ms - performance.now())),
  })
}

/** What it costs at most, by `prices.toml`. */
function priceLine(): string {
  const { cache_write_long, per_million } = pricesFor(anthropic.vendor.name, MODEL, [
    builtInPrices(),
  ])
  const tokens = MOST_WRITTEN_TOKENS.toLocaleString('en-US')
  const price = (MOST_WRITTEN_TOKENS * cache_write_long * (per_million ?? 0)) / 1e6
  const cost = per_million === undefined ? '' : `, at most ${price.toFixed(2)} USD`
  return (
    `Sends six requests of ${PROMPT_TOKENS} to ${2 * PROMPT_TOKENS} tokens to ${MODEL} with your ` +
    `key, and writes up to ${tokens} tokens to its cache${cost}. Takes ${MINUTES} minutes.`
  )
}
