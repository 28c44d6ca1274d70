import { hash } from 'node:crypto'
import type { RouteName } from '../../../src/core/dialects/lookup.ts'
import { type ClientTerms, type Step, turnBody } from './bodies.ts'
import { noRewrites, type RewriteChecks, type RewriteCounts } from './check-rewrites.ts'
import { createFollower, type FollowedTurn } from './follow-messages.ts'
import { ATTEMPT_HEADER, type RecordingVendor } from './recording-vendor.ts'
import type { Services, Which } from './services.ts'

const PATHS: Readonly<Record<RouteName, string>> = {
  anthropic_messages: '/anthropic/v1/messages',
  openai_chat: '/openai/v1/chat/completions',
  openai_responses: '/openai/v1/responses',
  gemini_generate: '/up/gemini/v1beta/models/gemini-2.5-pro:generateContent',
  bedrock_converse: '/up/bedrock/model/anthropic.claude-sonnet-4-5/converse',
}

/** What came of a conversation so far. */
export interface PlayedCounts {
  turns: number
  /** Turns whose messages did not begin with those of the turn before, as they arrived. */
  changed: number
  /** Turns that arrived byte for byte. */
  whole: number
  /** Calls that ended without an answer, and were made again. */
  retried: number
  /** Retried calls that had arrived with other bytes than the call that took their place. */
  retriedOtherwise: number
  /** Tokens of all messages, each once. */
  tokensRaw: number
  tokensSent: number
}

/** A conversation that is played a turn at a time. */
export interface PlayedConversation {
  readonly counts: Readonly<PlayedCounts & RewriteCounts>
  /**
   * Plays the turn in which it has `end` steps, through the service that is wanted, or the other
   * while that one is away.
   */
  play(end: number, wanted: Which): Promise<void>
}

export interface PlayOptions {
  readonly name: string
  readonly route: RouteName
  readonly terms: ClientTerms
  readonly services: Pick<Services, 'url' | 'count'>
  readonly vendor: Pick<RecordingVendor, 'take'>
  readonly checks: RewriteChecks
}

/** Calls for one turn, before a bench gives up. */
const MOST_CALLS = 20

/** Begins a conversation; each of its turns is held against the one before. */
export function startConversation(
  steps: readonly Step[],
  { name, route, terms, services, vendor, checks }: PlayOptions,
): PlayedConversation {
  const raw = createFollower(route, checks.count)
  const sent = createFollower(route, checks.count)
  const rewrites = noRewrites()
  // The headers of one agent, whose names may be any text.
  const session = hash('sha256', name).slice(0, 16)
  let before = 0
  let messagesBefore = 0
  const counts = {
    turns: 0,
    changed: 0,
    whole: 0,
    retried: 0,
    retriedOtherwise: 0,
    tokensRaw: 0,
    tokensSent: 0,
  }

  /** What arrived of one call, and whether it was answered. */
  async function call(bytes: Uint8Array<ArrayBuffer>, attempt: string, wanted: Which) {
    try {
      const response = await fetch((await services.url(wanted)) + PATHS[route], {
        method: 'POST',
        body: bytes,
        headers: {
          'content-type': 'application/json',
          'x-haversack-session': session,
          [ATTEMPT_HEADER]: attempt,
        },
      })
      const isAnswered = response.status === 200
      await response.arrayBuffer()
      return { isAnswered, arrived: vendor.take(attempt) }
    } catch {
      // The service was ended while it was at it.
      return { isAnswered: false, arrived: vendor.take(attempt) }
    }
  }

  /** What arrived of the call that was answered. */
  async function send(bytes: Uint8Array<ArrayBuffer>, wanted: Which): Promise<Uint8Array> {
    const unanswered: Uint8Array[] = []
    for (let n = 0; n < MOST_CALLS; n++) {
      const to = (wanted + n) % services.count
      const attempt = `${name}/${counts.turns}/${n}`
      const { isAnswered, arrived } = await call(bytes, attempt, to)
      if (isAnswered && arrived !== undefined) {
        counts.retriedOtherwise += unanswered.filter(
          other => Buffer.compare(other, arrived) !== 0,
        ).length
        return arrived
      }
      counts.retried++
      if (arrived !== undefined) unanswered.push(arrived)
    }
    throw new Error(`${name}: no answer in turn ${counts.turns}`)
  }

  /** Says where a prefix changed, and when. */
  function tellChange(at: number, wanted: Which): void {
    const time = new Date().toISOString()
    const what = `turn ${counts.turns} by ${wanted}, message ${at} of ${messagesBefore}`
    process.stderr.write(`${time} another prefix: ${name.slice(0, 60)}, ${what}\n`)
  }

  return {
    get counts() {
      return { ...counts, ...rewrites }
    },
    async play(end, wanted) {
      const body = turnBody(route, steps, { end, before }, terms)
      const arrived = await send(body, wanted)
      const turn = raw.advance(body)
      const smaller = sent.advance(arrived)
      checks.check(turn.scanned, smaller.scanned, rewrites.results, rewrites)
      if (turn.changedAt !== null) throw new Error(`${name}: the client changed its own prefix`)
      counts.turns++
      counts.whole += Buffer.compare(body, arrived) === 0 ? 1 : 0
      counts.changed += smaller.changedAt === null ? 0 : 1
      counts.tokensRaw = tokensOf(turn)
      counts.tokensSent = tokensOf(smaller)
      messagesBefore = turn.messages.length
      before = end
      if (smaller.changedAt !== null) tellChange(smaller.changedAt, wanted)
    },
  }
}

function tokensOf({ messages }: FollowedTurn): number {
  return messages.reduce((sum, { tokens }) => sum + tokens, 0)
}
