import { hash } from 'node:crypto'
import type { TokenPrices } from '../../src/core/conversation/usage/billing.ts'
import type { FollowedMessage } from './follow-messages.ts'

/** Input tokens of a request by what a provider does with them. */
export interface Bill {
  readonly read: number
  readonly written: number
  readonly rest: number
  /** In uncached input tokens. */
  readonly billed: number
}

/**
 * Messages before a breakpoint at which a provider looks for a prefix that it has (Anthropic: 20
 * blocks).
 */
const LOOK_BACK = 20

/**
 * A provider's prompt cache for one conversation. The longest prefix that an earlier turn left at
 * one of its breakpoints, and that a breakpoint of this turn reaches, is read; what follows up to
 * the last breakpoint is written; the rest is neither. Without breakpoints (OpenAI) every message
 * ends a prefix. The least size of what is cached is not simulated.
 * @param lifeSeconds how long a prefix stays after it was last written or read; absent: for ever
 */
export function createPromptCache(
  prices: Pick<TokenPrices, 'cache_read' | 'cache_write'>,
  lifeSeconds = Number.POSITIVE_INFINITY,
) {
  /** When each prefix was last written or read. */
  const known = new Map<string, number>()

  function isKept(prefix: string, seconds: number): boolean {
    const used = known.get(prefix)
    return used !== undefined && seconds - used <= lifeSeconds
  }

  return {
    /** @param seconds when the request is sent */
    bill(
      messages: readonly Pick<FollowedMessage, 'meaning' | 'tokens'>[],
      breakpoints: readonly number[],
      seconds = 0,
    ): Bill {
      const prefixes = prefixesOf(messages)
      const marks = breakpoints.length > 0 ? breakpoints : [...messages.keys()]
      const found = marks.flatMap(mark => reach(mark)).filter(at => isKept(prefixes[at]!, seconds))
      const readTo = Math.max(-1, ...found) + 1
      const writtenTo = Math.max(readTo, marks.at(-1)! + 1)
      if (readTo > 0) known.set(prefixes[readTo - 1]!, seconds)
      for (const mark of marks) known.set(prefixes[mark]!, seconds)
      const [read, written, rest] = [
        sum(messages.slice(0, readTo)),
        sum(messages.slice(readTo, writtenTo)),
        sum(messages.slice(writtenTo)),
      ]
      const billed = read * prices.cache_read + written * prices.cache_write + rest
      return { read, written, rest, billed }
    },
  }
}

/** The places, from a breakpoint back, at which it finds a prefix. */
function reach(mark: number): number[] {
  return Array.from({ length: Math.min(LOOK_BACK, mark + 1) }, (_, back) => mark - back)
}

/** A digest of all up to each message. */
function prefixesOf(messages: readonly Pick<FollowedMessage, 'meaning'>[]): string[] {
  let prefix = ''
  return messages.map(({ meaning }) => {
    prefix = hash('sha1', prefix + meaning, 'hex')
    return prefix
  })
}

function sum(messages: readonly Pick<FollowedMessage, 'tokens'>[]): number {
  return messages.reduce((total, { tokens }) => total + tokens, 0)
}
