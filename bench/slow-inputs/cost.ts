import { valueSymbol } from 'piscina'
import { createRandom, median } from '../../src/bill/statistics.ts'
import { BYTE_OPERATIONS, OPERATIONS } from '../../src/core/operations/registry.ts'
import { rewriteOp } from '../../src/core/operations/rewrite-op.ts'
import type { BatchResult } from '../../workers/protocol.ts'
import { createRunner } from '../../workers/thread.ts'
import { generatedResults } from '../support/generated-results.ts'
import { benchSetup } from '../support/worker-setup.ts'
import { type Input, mutated, randomInput, writeInput } from './grammar.ts'

/** An input, and its processor time per byte over that of ordinary JSON. */
interface Find {
  readonly input: Input
  readonly ratio: number
}

interface SearchOptions {
  readonly seed: number
  readonly climbs: number
  readonly steps: number
  readonly chars: number
  readonly ordinary: number
}

/**
 * Climbs from several inputs by chance towards slower ones. Which inputs are tried depends on the
 * seed and on which was the slower one; a step up is measured twice.
 */
export function searchSlowInputs(
  costs: Costs,
  { seed, climbs, steps, chars, ordinary }: SearchOptions,
): readonly Find[] {
  const random = createRandom(seed)
  const ratioOf = (input: Input) => costs.of('encode', writeInput(input, chars)) / ordinary
  const finds = Array.from({ length: climbs }, () => {
    let input = randomInput(random)
    let ratio = Math.min(ratioOf(input), ratioOf(input))
    for (let step = 0; step < steps; step++) {
      const next = mutated(input, random)
      if (ratioOf(next) <= ratio) continue
      const again = ratioOf(next)
      if (again > ratio) [input, ratio] = [next, again]
    }
    return { input, ratio }
  })
  return finds.sort((a, b) => b.ratio - a.ratio)
}

/** What is done with an input: a client's encode, or a proxied request whose result it is. */
export const WAYS = ['encode', 'rewrite'] as const
type Way = (typeof WAYS)[number]

const WARM_UPS = 6
const WARM_UP_CHARS = 100_000

/** Processor time per byte, in nanoseconds, garbage collection included. */
interface Costs {
  of(way: Way, text: string): number
  /** Mean over kinds of ordinary JSON of this size; each a median of three. */
  ordinary(way: Way, chars: number): number
}

/** All that a thread does for a job, in this thread. */
export function createCosts(): Costs {
  const run = createRunner({ ...OPERATIONS, ...BYTE_OPERATIONS }, benchSetup())
  let jobs = 0

  function bodyOf(way: Way, text: string): object {
    if (way === 'encode') return { content: text }
    // Its own conversation: nothing is remembered of it.
    const call = { type: 'tool_use', id: 't', name: 'run', input: { job: jobs } }
    const result = { type: 'tool_result', tool_use_id: 't', content: text }
    return {
      model: `claude-${jobs}`,
      messages: [
        { role: 'user', content: `Job ${jobs}.` },
        { role: 'assistant', content: [call] },
        { role: 'user', content: [result] },
      ],
    }
  }

  function of(way: Way, text: string): number {
    jobs++
    const body = new Uint8Array(Buffer.from(JSON.stringify(bodyOf(way, text))))
    const op = way === 'encode' ? way : rewriteOp('anthropic_messages')
    const job = { tenant: '', media: 'json', accept: 'json', phase: 'whole' } as const
    const header = { ...job, op, start: 0, length: body.length }
    const before = process.cpuUsage()
    const answer = run({ jobs: [header], body: body.buffer, slot: 0 })
    const { user, system } = process.cpuUsage(before)
    const { outcomes } = (answer as unknown as Record<symbol, BatchResult>)[
      valueSymbol
    ] as BatchResult
    const outcome = outcomes[0]
    if (outcome?.kind !== 'done') throw new Error(`${way} failed: ${JSON.stringify(outcome)}`)
    return ((user + system) * 1000) / Buffer.byteLength(text)
  }

  function ordinary(way: Way, chars: number): number {
    const costs = generatedResults.map(({ make }) => {
      for (let i = 0; i < WARM_UPS; i++) of(way, make(Math.min(chars, WARM_UP_CHARS)))
      const text = make(chars)
      return median([0, 1, 2].map(() => of(way, text)))
    })
    return costs.reduce((sum, cost) => sum + cost, 0) / costs.length
  }

  return { of, ordinary }
}
