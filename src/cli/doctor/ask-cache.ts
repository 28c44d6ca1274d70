import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { builtInPrices } from '../../config/prices.ts'
import { isAgreed } from '../../console/ask.ts'
import { UsageError } from '../../console/command.ts'
import { readJsonText } from '../../core/base/read-text.ts'
import { pricesFor } from '../../core/conversation/usage/billing.ts'
import { anthropic } from '../../core/dialects/anthropic.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

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

/** Answers a request to Anthropic's Messages API. @throws Error if none comes */
type AskModel = (body: object) => Promise<{ readonly status: number; readonly body: unknown }>

interface ProbeOptions {
  readonly model: string
  /** Makes this run's prompts others than those of any earlier one. */
  readonly seed: string
  ask: AskModel
  /** Resolves so many milliseconds after the first request was sent. */
  until(ms: number): Promise<void>
}

/** After the usual life of a cache, and after the moment at which a ping is sent within it. */
const PING_AT_MS = 280_000
const LATER_MS = 420_000
/** Tokens of a prompt, about: above the least length of every model. */
const PROMPT_TOKENS = 6_000
/** Prompts that are written: two for minutes, an hour's part, and at worst each again. */
const MOST_WRITTEN_TOKENS = 6 * PROMPT_TOKENS

const answered = z.object({
  usage: z.object({
    cache_read_input_tokens: z.number().default(0),
    cache_creation_input_tokens: z.number().default(0),
  }),
})

/**
 * Asks what no document says: does a breakpoint of an hour keep a prefix that was written for five
 * minutes; does a request for no token pass with adaptive thinking, and does it renew a cache.
 * Takes seven minutes.
 */
export async function probeCache({ model, seed, ask, until }: ProbeOptions): Promise<Finding[]> {
  const text = (name: string) => `${seed} ${name} ${'one more word '.repeat(PROMPT_TOKENS / 3)}`
  const breakpoint = (ttl?: '1h') => ({ type: 'ephemeral', ...(ttl && { ttl }) })
  const block = (name: string, ttl?: '1h') => {
    return { type: 'text', text: text(name), cache_control: breakpoint(ttl) }
  }
  const request = (content: readonly object[], more: object = {}) => ({
    model,
    max_tokens: 1_100,
    messages: [{ role: 'user', content }],
    ...more,
  })
  const thinking = { thinking: { type: 'adaptive' } }
  const { cache_control: _, ...unmarked } = block('minutes')
  const hour = request([unmarked, block('hour', '1h')])
  const renewed = request([block('renewed')], thinking)
  const before = await usageOf(ask, request([block('minutes')]))
  const after = await usageOf(ask, hour)
  const first = await usageOf(ask, renewed)
  if (before === null || after === null || first === null) {
    return [fail('cache', 'a request was refused', 'is the key one of Anthropic’s API?')]
  }
  await until(PING_AT_MS)
  const ping = await ask({ ...renewed, max_tokens: 0 })
  await until(LATER_MS)
  const later = await usageOf(ask, hour)
  const kept = await usageOf(ask, renewed)
  const all = after.read + after.written
  return [
    later !== null && later.read >= all
      ? ok('an hour after minutes', 'keeps all of the prefix for an hour')
      : warn(
          'an hour after minutes',
          `${later?.read ?? 0} of ${all} tokens were read`,
          'a longer life must begin with a conversation, as cache_life.life does it',
        ),
    ping.status === 200
      ? ok('a ping with adaptive thinking', 'is taken')
      : warn('a ping with adaptive thinking', `is answered ${ping.status}`, 'cache_life.pings = 0'),
    kept !== null && kept.read >= first.written
      ? ok('a ping', 'renews the cache')
      : warn('a ping', `${kept?.read ?? 0} tokens were read after it`, 'cache_life.pings = 0'),
  ]
}

/** `null` if the request was refused. */
async function usageOf(ask: AskModel, request: object) {
  const { status, body } = await ask(request)
  const parsed = answered.safeParse(body)
  if (status !== 200 || !parsed.success) return null
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = parsed.data.usage
  return { read, written }
}
