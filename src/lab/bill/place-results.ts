import { WRITE_PRICES } from './prices.ts'
import type { BillCall, BillResult, BillSession } from './session.ts'
import { median } from './statistics.ts'

/** A result at its place in the provider's prompts. */
export interface PlacedResult extends BillResult {
  /** The call that it came with, and the compactions before it. */
  readonly call: number
  readonly epoch: number
  /** o200k tokens of its text. */
  readonly raw: number
  /** The provider's tokens: where it starts in each prompt, and how many it has. */
  readonly start: number
  readonly tokens: number
}

/** A call with what its usage says of the prompt. */
export interface PlacedCall extends BillCall {
  readonly prompt: number
  readonly epoch: number
  /** Output as stated, or estimated if it was not recorded. */
  readonly spent: number
  /** Price of a written token, in tokens that no cache has. */
  readonly writePrice: number
  /** Tokens that the call before had in its prompt and that were written again. */
  readonly missed: number
  /** Whether the pause before it was longer than the life that was bought. */
  readonly isPause: boolean
  /** Tokens of its own calls and of what is no result, in the provider's count. */
  readonly callTokens: number
}

export interface PlacedSession {
  readonly name: string
  readonly calls: readonly PlacedCall[]
  readonly results: readonly PlacedResult[]
  readonly isOutputEstimated: boolean
}

const LIVES = { minutes: 300, hour: 3_600 }
/** A large result tells how many of the provider's tokens one of o200k is. */
const LARGE_TOKENS = 1_500
const LITTLE_OUTPUT = 0.1
const LEAST_SAMPLES = 5
const USUAL_FACTOR = 1.15
/** Output by the prompt's growth, as it is met where it is stated. */
const OUTPUT_SHARE = 0.9
/** Stated output below this part of what was said is a stub of the recording. */
const STUB_SHARE = 0.5

const promptOf = ({ fresh, read, write }: BillCall) => fresh + read + write

export interface TokenFactor {
  readonly factor: number
  readonly samples: number
}

/** The provider's tokens for one of o200k, by model: how much one large result let prompts grow. */
export function factorsOf(
  sessions: Iterable<BillSession>,
  count: (text: string) => number,
): ReadonlyMap<string, TokenFactor> {
  const samples = new Map<string, number[]>()
  for (const { calls } of sessions) {
    for (const [at, call] of calls.entries()) {
      const before = calls[at - 1]
      if (before === undefined || call.compacted || call.results.length !== 1) continue
      const raw = count(call.results[0]!.text)
      const beside = before.said + before.calls + call.user
      if (raw < LARGE_TOKENS || beside > LITTLE_OUTPUT * raw) continue
      const own = samples.get(call.model) ?? []
      samples.set(call.model, own)
      own.push((promptOf(call) - promptOf(before)) / (raw + beside))
    }
  }
  const enough = [...samples].filter(([, own]) => own.length >= LEAST_SAMPLES)
  return new Map(
    enough.map(([model, own]) => [model, { factor: median(own), samples: own.length }]),
  )
}

/** Finds the place of each result by how the prompt grew. */
export function placeResults(
  { name, calls }: BillSession,
  factors: ReturnType<typeof factorsOf>,
  count: (text: string) => number,
): PlacedSession {
  const results: PlacedResult[] = []
  const grown = calls.map((call, at) => {
    const before = call.compacted ? undefined : calls[at - 1]
    return before === undefined ? null : Math.max(0, promptOf(call) - promptOf(before))
  })
  const epochs: number[] = []
  const resultTokens = calls.map((call, at) => {
    epochs.push((epochs.at(-1) ?? 0) + (call.compacted ? 1 : 0))
    const factor = factors.get(call.model)?.factor ?? USUAL_FACTOR
    const raw = call.results.map(({ text }) => count(text))
    const wanted = factor * raw.reduce((sum, each) => sum + each, 0)
    const room = grown[at] ?? promptOf(call)
    const scale = wanted === 0 ? 0 : factor * Math.min(1, room / wanted)
    const user = Math.min(factor * call.user, room - Math.min(room, wanted))
    let start = promptOf(call) - user - Math.min(room, wanted)
    for (const [index, result] of call.results.entries()) {
      const tokens = raw[index]! * scale
      results.push({ ...result, call: at, epoch: epochs[at]!, raw: raw[index]!, start, tokens })
      start += tokens
    }
    return { results: Math.min(room, wanted), user, factor }
  })
  const stated = calls.reduce((sum, { output }) => sum + output, 0)
  const said = calls.reduce((sum, call) => sum + call.said + call.calls, 0)
  const isOutputEstimated = stated < STUB_SHARE * said
  const outputOf = (call: BillCall, at: number): number => {
    if (!isOutputEstimated) return call.output
    const [growth, next] = [grown[at + 1], resultTokens[at + 1]]
    const own = resultTokens[at]!.factor * (call.said + call.calls)
    if (growth == null || next === undefined) return own
    return OUTPUT_SHARE * Math.max(0, growth - next.results - next.user)
  }
  const placed = calls.map((call, at): PlacedCall => {
    const { write, hour, ts } = call
    const before = call.compacted ? undefined : calls[at - 1]
    const price = WRITE_PRICES.minutes * (write - hour) + WRITE_PRICES.hour * hour
    const known = before === undefined ? 0 : Math.min(promptOf(before), promptOf(call))
    const life = (before?.hour ?? 0) > 0 || hour > 0 ? LIVES.hour : LIVES.minutes
    return {
      ...call,
      prompt: promptOf(call),
      epoch: epochs[at]!,
      spent: outputOf(call, at),
      writePrice: write === 0 ? WRITE_PRICES.minutes : price / write,
      missed: Math.min(write, Math.max(0, known - call.read)),
      isPause: before !== undefined && ts - before.end > life,
      callTokens: resultTokens[at]!.factor * call.calls,
    }
  })
  return { name, calls: placed, results, isOutputEstimated }
}
