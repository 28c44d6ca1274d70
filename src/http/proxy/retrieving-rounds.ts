import { type ContentCoding, decodeBody, encodeBody } from '../../core/base/content-coding.ts'
import { GrownBytes } from '../../core/base/grown-bytes.ts'
import { parseKeepingSpelling } from '../../core/contract/envelope.ts'
import type { RetrievingRequest } from '../../core/contract/operation-result.ts'
import { createRetrievingAnswer } from '../../core/conversation/retrieve/create-answer.ts'
import type {
  FinishedAnswer,
  HiddenTurn,
  OwnCall,
  RetrievingAnswer,
} from '../../core/conversation/retrieve/retrieving-answer.ts'
import { EventSplitter } from '../../core/conversation/retrieve/split-events.ts'
import type { Fields } from '../../core/dialects/bodies/route.ts'
import { bodyRules, type RouteName } from '../../core/dialects/lookup.ts'
import type { AnswerRounds, RoundForm, RoundStep } from '../../proxy/answer-rounds.ts'
import { pairs, type RawHeaders } from '../../proxy/headers.ts'

/** Rounds of one answer in which the model only fetched. One more is asked for without a text. */
const MAX_ROUNDS = 4
/** Text that is fetched for one request, in bytes: about 20,000 tokens. */
const MAX_FETCHED_BYTES = 80_000
/** A longer stream passes on, but cannot be continued: what its model said is not kept. */
const MAX_STREAMED_BYTES = 64 * 1024 * 1024
/** A longer body is not read again. */
const MAX_BODY_BYTES = 256 * 1024 * 1024
/** A longer answer in one piece is not read. */
const MAX_WHOLE_BYTES = 16 * 1024 * 1024

const SEEN = 'See above: this was fetched already.'
const LIMIT = 'No more is fetched for this request: the limit is reached. Go on with what you have.'

export interface RoundNeeds {
  readonly route: RouteName
  readonly request: RetrievingRequest
  /** The request's body as it was sent; `null`: it cannot be continued. */
  readonly body: Uint8Array | null
  /** How it is compressed; `null`: it is not. */
  readonly coding: ContentCoding | null
  /** The text for a call of our tool. Never rejects. @param args JSON */
  retrieve(args: string): Promise<string>
  /** Records what the client was not shown. Never rejects. */
  record(hidden: HiddenTurn): Promise<void>
}

/** The rounds of an answer whose request has our tool; `null` if such answers are not read. */
export function createRetrievingRounds(needs: RoundNeeds): AnswerRounds | null {
  const answer = createRetrievingAnswer(needs.route)
  return answer === null ? null : new RetrievingRounds(answer, needs)
}

class RetrievingRounds implements AnswerRounds {
  readonly #answer: RetrievingAnswer
  readonly #needs: RoundNeeds
  readonly ping: Uint8Array
  /** Without its coding, once a round has asked for more. */
  #body: Uint8Array | null
  #appendAt: number
  #form: RoundForm = 'pass'
  #splitter = new EventSplitter()
  #whole = new GrownBytes(MAX_WHOLE_BYTES)
  #streamedBytes = 0
  #rounds = 0
  #fetchedBytes = 0
  readonly #fetched = new Set<string>()

  constructor(answer: RetrievingAnswer, needs: RoundNeeds) {
    this.#answer = answer
    this.#needs = needs
    this.#body = needs.body
    this.#appendAt = needs.request.appendAt ?? -1
    this.ping = Buffer.from(bodyRules(needs.route).retrieving?.ping ?? '')
  }

  begin(status: number, headers: RawHeaders): RoundForm {
    this.#splitter = new EventSplitter()
    this.#whole = new GrownBytes(MAX_WHOLE_BYTES)
    this.#form = status === 200 ? formOf(headers) : 'pass'
    return this.#form
  }

  take(bytes: Uint8Array): Uint8Array {
    if (this.#form === 'pass') return bytes
    if (this.#form === 'whole') {
      if (this.#whole.add(bytes)) return NOTHING
      this.#form = 'pass'
      return joined([this.#whole.take(), bytes])
    }
    this.#streamedBytes += bytes.length
    if (this.#streamedBytes > MAX_STREAMED_BYTES) this.#answer.forget()
    const passed = this.#splitter.push(bytes).flatMap(event => this.#answer.event(event))
    return joined(passed)
  }

  async end(): Promise<RoundStep> {
    if (this.#form === 'pass') return { kind: 'done', bytes: NOTHING }
    const original = this.#whole.take()
    if (this.#form === 'whole' && !this.#readWhole(original)) {
      return { kind: 'done', bytes: original }
    }
    const { calls, waitsForUs, isKnown } = this.#answer
    const mayAnswer = this.#rounds <= MAX_ROUNDS && isKnown
    if (waitsForUs && mayAnswer && this.#appendAt >= 0) {
      const body = this.#plainBody()
      if (body !== null) return this.#nextRound(body, await this.#results(calls))
    }
    // Beside calls of the client ours are answered without another round.
    const isBeside = calls.length > 0 && !waitsForUs && isKnown
    const results = isBeside ? await this.#results(calls) : null
    return { kind: 'done', bytes: await this.#finished(original, results) }
  }

  #readWhole(bytes: Uint8Array): boolean {
    try {
      // What is left of it is written for the client.
      const value = parseKeepingSpelling(Buffer.from(bytes).toString())
      if (typeof value !== 'object' || value === null) return false
      this.#answer.whole(value as Fields)
      return true
    } catch {
      return false
    }
  }

  async #results(calls: readonly OwnCall[]): Promise<readonly string[]> {
    const results: string[] = []
    for (const { args } of calls) results.push(await this.#result(args))
    return results
  }

  async #result(args: string): Promise<string> {
    if (this.#fetched.has(args)) return SEEN
    if (this.#fetchedBytes >= MAX_FETCHED_BYTES || this.#rounds >= MAX_ROUNDS) return LIMIT
    const text = await this.#needs.retrieve(args)
    this.#fetched.add(args)
    this.#fetchedBytes += Buffer.byteLength(text)
    return text
  }

  #plainBody(): Uint8Array | null {
    const { coding } = this.#needs
    const isCoded = coding !== null && this.#rounds === 0
    if (isCoded) this.#body &&= decodeBody(this.#body, coding, MAX_BODY_BYTES)
    return this.#body
  }

  #nextRound(body: Uint8Array, results: readonly string[]): RoundStep {
    this.#rounds++
    const items = Buffer.from(`,${this.#answer.nextRound(results)}`)
    const longer = Buffer.concat([
      body.subarray(0, this.#appendAt),
      items,
      body.subarray(this.#appendAt),
    ])
    this.#body = longer
    this.#appendAt += items.length
    const { coding } = this.#needs
    return { kind: 'again', body: coding === null ? longer : encodeBody(longer, coding) }
  }

  async #finished(original: Uint8Array, results: readonly string[] | null): Promise<Uint8Array> {
    this.#body = null
    if (this.#form === 'whole') {
      const finished = this.#answer.finishWhole(results)
      await this.#record(finished)
      return finished.sent === null ? original : Buffer.from(JSON.stringify(finished.sent))
    }
    const finished = this.#answer.finishStream(results)
    await this.#record(finished)
    return joined([...finished.sent, this.#splitter.rest()])
  }

  async #record({ hidden }: FinishedAnswer<unknown>): Promise<void> {
    if (hidden !== null) await this.#needs.record(hidden)
  }
}

const NOTHING = new Uint8Array(0)

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
}

function formOf(headers: RawHeaders): RoundForm {
  const [, type = ''] = pairs(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? []
  if (/^text\/event-stream\b/i.test(type)) return 'events'
  return /^application\/json\b/i.test(type) ? 'whole' : 'pass'
}
