import { ServiceProblem } from '../../console/service-client.ts'
import { AppError } from '../../core/base/errors.ts'
import { parseHint } from '../../core/hints/hint-line.ts'
import { parsePart } from '../../core/parts/parse-part.ts'
import { selectPart } from '../../core/parts/select-part.ts'
import { bareFormat } from '../../core/pipeline/wrapped-format.ts'
import { CHANGES_FORMAT } from '../../core/sessions/near/changes-format.ts'
import {
  LINES_FORMAT,
  NEAR_FORMAT,
  REFERENCE_FORMAT,
} from '../../core/sessions/turn/decode-references.ts'
import { STRING_LINES_FORMAT } from '../../core/sessions/turn/string-lines.ts'
import type { TokenCounter } from '../../core/tokens/counter.ts'
import type { TokenCounters } from '../../core/tokens/counters.ts'
import { sameMeaning } from '../../core/verify/same-meaning.ts'
import type { TranscriptEntry } from '../../core/verify/transcript.ts'
import {
  createVerifier,
  type Retrievable,
  type Verified,
} from '../../core/verify/verify-transcript.ts'
import type { EncodeAnswer, EncodeRequest } from '../../index.ts'
import { entryOf } from '../entry-of.ts'
import { type BilledResult, CALL_TOKENS } from '../guard/bill.ts'
import { requestOf } from '../play/result-encoder.ts'
import type { Player } from './player.ts'
import type { RecordedResult } from './read-results.ts'

/** Sums over results that have something in common. */
export interface Sums {
  results: number
  raw_bytes: number
  /** Tokens of the baseline. */
  tokens_in: number
  tokens_out: number
  /** Results that the answer gave back to the last byte, or value. */
  restored: number
  readonly saved_tokens: Record<(typeof MEANS)[number], number>
}

/** By which a replay is summed up. */
export const DIMENSIONS = ['tool', 'shape', 'layer', 'format'] as const

/** The means by which an answer became smaller. */
export const MEANS = ['exact', 'near', 'lines', 'encoder', 'omission'] as const

const REFERRING = [
  [REFERENCE_FORMAT, 'exact'],
  [CHANGES_FORMAT, 'near'],
  [NEAR_FORMAT, 'near'],
  [LINES_FORMAT, 'lines'],
  [STRING_LINES_FORMAT, 'lines'],
] as const

interface ReplayOptions {
  readonly player: Player
  /** The fields of every request beside its result. */
  readonly common: Omit<EncodeRequest, 'content'>
  readonly counters: TokenCounters
  /** Counts what is fetched. */
  readonly counter: TokenCounter
  /** The share of the markers that count as fetched, 0 to 1. */
  readonly share: number
  /** Tokens of a result as the baseline writes it; `null`: those of the input. */
  readonly baselineTokens: ((text: string) => number) | null
  /** Takes the lines of a transcript, which `haversack verify` reads. */
  write(line: string): void
  /** Takes what failed, or is not true. */
  tell(what: string, reason: string): void
}

/** What became of one result. */
export interface Played {
  readonly answer: EncodeAnswer
  /** Whether the answer gave the result back, to the last byte or value. */
  readonly restored: boolean
  /** What is not true of it, or cannot be retrieved. */
  readonly findings: readonly string[]
}

/** Plays results in their order, verifies each answer, decodes it, and sums up. */
export class Replay {
  readonly total = noSums()
  readonly by = Object.fromEntries(DIMENSIONS.map(name => [name, new Map()])) as Readonly<
    Record<(typeof DIMENSIONS)[number], Map<string, Sums>>
  >
  /** Hints that were sent, and how many of them are not true or cannot be retrieved. */
  readonly hints = { sent: 0, failed: 0 }
  /** Markers that are fetched, of all that were sent, and the tokens of that, with its calls. */
  readonly retrieval = { markers: 0, sent: 0, tokens: 0 }
  /** Every result, for a bill by turns. */
  readonly billed: BilledResult[] = []
  /** Findings about answers, beside what was wrong with hints. */
  findings = 0
  /** Results that got no answer. The sums do not include them. */
  failed = 0
  /** As these, because nothing that may be sent of them fits the budget. */
  tooSmall = 0
  readonly #options: ReplayOptions
  readonly #verifier: ReturnType<typeof createVerifier>
  readonly #epochs = new Map<string, number>()
  #lines = 0

  constructor(options: ReplayOptions) {
    this.#options = options
    this.#verifier = createVerifier(options.counters)
  }

  /** Returns `null` if it got no answer. */
  async play({ session: recorded, ...result }: RecordedResult): Promise<Played | null> {
    const { player, common, tell } = this.#options
    const session = recorded === undefined ? undefined : player.nameOf(recorded)
    const request = requestOf({ ...result, session }, common)
    try {
      await this.#follow(session, result.epoch)
      const answer = await player.encode(request)
      const checked = this.#check({ request, answer })
      const dead = await this.#deadOf(checked.retrievable)
      const restored = await this.#isRestored(result.text, answer, session)
      const findings = [
        ...checked.findings.map(({ family, reason }) => `${family}: ${reason}`),
        ...dead.map(({ family, id }) => `${family}: ${id} cannot be redeemed`),
      ]
      this.hints.sent += checked.hints
      this.hints.failed += Math.min(checked.hints, checked.failed + dead.length)
      this.findings += findings.length
      this.#add(result, recorded, { answer, restored })
      for (const finding of findings) tell('not true', finding)
      return { answer, restored, findings }
    } catch (error) {
      // The refusal of one result does not end the replay.
      if (codeOf(error) === 'budget_too_small') {
        this.tooSmall++
        this.#check({ request, answer: null })
      } else {
        this.failed++
        tell('failed', error instanceof Error ? error.message : String(error))
      }
      return null
    }
  }

  /** Tells of a context that was compacted since. */
  async #follow(session: string | undefined, epoch: number | undefined): Promise<void> {
    if (session === undefined || epoch === undefined) return
    const before = this.#epochs.get(session) ?? epoch
    this.#epochs.set(session, epoch)
    for (let now = before; now < epoch; now++) {
      const isKnown = await this.#options.player.compact(session)
      if (isKnown) this.#check({ event: 'compaction', session })
    }
  }

  #check(entry: TranscriptEntry): Verified {
    this.#options.write(`${JSON.stringify(entry)}\n`)
    return this.#verifier.check({ line: ++this.#lines, entry })
  }

  /** Ids that do not return the text that they represent. */
  async #deadOf(ids: readonly Retrievable[]): Promise<readonly Retrievable[]> {
    const dead: Retrievable[] = []
    for (const each of ids) {
      const { id, session, content } = each
      if ((await this.#options.player.retrieve(id, session)) !== content) dead.push(each)
    }
    return dead
  }

  /**
   * Whether decoding the answer gives the very input; if parts are missing, whether retrieving its
   * marker does.
   */
  async #isRestored(
    text: string,
    { content, format, elided: [marker] }: EncodeAnswer,
    session: string | undefined,
  ): Promise<boolean> {
    const { player } = this.#options
    if (marker !== undefined) return (await player.retrieve(marker.hash)) === text
    try {
      return sameMeaning(text, await player.decode(content, format, session))
    } catch (error) {
      if (codeOf(error) === 'not_decodable') return false
      throw error
    }
  }

  #add(
    { tool, text, epoch }: RecordedResult,
    session: string | undefined,
    { answer, restored }: Pick<Played, 'answer' | 'restored'>,
  ): void {
    const { share, counter, baselineTokens } = this.#options
    const { shape, layer, format, tokens, bytes } = answer
    const before = baselineTokens?.(text) ?? tokens.baseline
    const keys = { tool, shape, layer, format: bareFormat(format) }
    const saved = savedBy(answer, before)
    const groups = DIMENSIONS.map(name => entryOf(this.by[name], keys[name], noSums))
    for (const sums of [this.total, ...groups]) {
      sums.results++
      sums.raw_bytes += bytes.raw
      sums.tokens_in += before
      sums.tokens_out += tokens.final
      if (restored) sums.restored++
      for (const means of MEANS) sums.saved_tokens[means] += saved[means]
    }
    const part = fetchedOf(answer, text, share)
    const fetched = part === null ? 0 : counter.count(part)
    if (answer.elided.length > 0) this.retrieval.sent++
    if (part !== null) {
      this.retrieval.markers++
      this.retrieval.tokens += CALL_TOKENS + fetched
    }
    this.billed.push({ session, epoch, before, after: tokens.final, fetched })
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof AppError || error instanceof ServiceProblem ? error.code : null
}

function noSums(): Sums {
  const sums = { results: 0, raw_bytes: 0, tokens_in: 0, tokens_out: 0, restored: 0 }
  return { ...sums, saved_tokens: noSavings() }
}

function noSavings(): Sums['saved_tokens'] {
  return { exact: 0, near: 0, lines: 0, encoder: 0, omission: 0 }
}

/**
 * Tokens that an answer saved, by means. A baseline other than the input has more or fewer tokens.
 * That difference belongs to what wrote the text: the reference if all of it is one, else the
 * encoder.
 * @param baseline tokens of the result as the baseline writes it
 */
function savedBy({ format, savings, tokens }: EncodeAnswer, baseline: number) {
  const { dedup_tokens, encoder_tokens, elided_tokens } = savings
  const parts = format.split(';')
  const [, by] = REFERRING.find(([id]) => parts.includes(id)) ?? []
  const all = { ...noSavings(), encoder: encoder_tokens, omission: elided_tokens }
  if (by !== undefined) all[by] = dedup_tokens
  const isReference = by === 'exact' || by === 'near'
  all[isReference ? by : 'encoder'] += baseline - tokens.baseline
  return all
}

/**
 * What is fetched of an answer's marker: the first place that it names, or the whole if it names
 * none. The hash alone decides whether it is fetched, so that each replay has the same result.
 * @param share of the markers that are fetched, 0 to 1
 * @returns `null` if nothing is fetched
 */
export function fetchedOf(
  { elided: [marker], hints }: Pick<EncodeAnswer, 'elided' | 'hints'>,
  text: string,
  share: number,
): string | null {
  if (marker === undefined) return null
  if (Number.parseInt(marker.hash.slice(0, 8), 16) >= share * 2 ** 32) return null
  const hint = parseHint(hints.find(({ family }) => family === 'elision')?.text ?? '')
  const at =
    hint?.family === 'elision' ? hint.parts.find(part => part.at !== undefined)?.at : undefined
  if (at === undefined) return text
  const selector = parsePart(
    at.startsWith('$') ? { path: at } : { lines: at.replace('lines ', '') },
  )
  if (selector === undefined) return text
  return Buffer.from(selectPart(Buffer.from(text), selector).content).toString()
}
