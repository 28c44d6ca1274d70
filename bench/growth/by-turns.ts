import { createHistoryMemory } from '../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../src/core/conversation/rewrite/rewrite-memory.ts'
import { createTurnMemories } from '../../src/core/conversation/rewrite/turn-memory.ts'
import { rewriteRequestOperation } from '../../src/core/operations/rewrite-request.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { encode } from '../../src/index.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { type Step, turnBody } from '../../test/support/turns/bodies.ts'
import { mean } from '../support/statistics.ts'
import { type Curve, costOf, type Point, SHAPES } from './measure.ts'

const ROUTE = 'anthropic_messages'
const TERMS = { model: 'claude-sonnet-4-5', tools: ['read'] }
const MEMORY_BYTES = 64 * 1024 * 1024
const RESULT_CHARS = 2_000
const LENGTHS = [1, 5, 20, 50, 100, 200, 500]
/** Turns before and at a length whose mean is its cost, in so many conversations alike. */
const NEAR = 5
const CONVERSATIONS = 4
/** Conversations that are played before, to warm the code up. */
const WARMING = 3

/** One turn more of a proxied conversation whose earlier turns the process knows, by their number. */
export function turnsByLength(most: number): Curve {
  const lengths = LENGTHS.filter(each => each <= most)
  const last = lengths.at(-1)!
  const steps = Array.from({ length: last }, (_, i): Step => {
    const { make } = SHAPES[i % SHAPES.length]!
    return {
      tool: 'read',
      args: { path: `src/${i}.ts` },
      text: make(RESULT_CHARS + i),
      isError: false,
    }
  })
  for (let i = 0; i < WARMING; i++) play(steps.slice(0, 100))
  const played = Array.from({ length: CONVERSATIONS }, () => play(steps))
  const points = lengths.map((length): Point => {
    const near = played.flatMap(costs => costs.slice(Math.max(0, length - NEAR), length))
    return [length, mean(near)]
  })
  return { name: 'turn', by: 'turns before', goal: 0.1, points }
}

/** Nanoseconds of each turn. */
function play(steps: readonly Step[]): number[] {
  const operation = rewriteRequestOperation(ROUTE)
  const rewrites = {
    tenant: 'growth',
    memory: attachRewriteMemory(createBodyMemory({ bytes: MEMORY_BYTES })),
    turns: createTurnMemories(1).of('growth'),
    history: createHistoryMemory(1),
  }
  const context = { ...createLocalContext(), keepsOriginals: true }
  const recalled: Record<string, Uint8Array> = {}
  const costs: number[] = []
  for (let end = 1; end <= steps.length; end++) {
    const bytes = turnBody(ROUTE, steps, { end, before: end - 1 }, TERMS)
    const started = process.threadCpuUsage()
    const answer = operation.run(bytes, {
      ...context,
      rewrites: { ...rewrites, recalled },
      terms: { redeems: true, bypass: false },
    })
    const { user, system } = process.threadCpuUsage(started)
    costs.push((user + system) * 1000)
    for (const { key, bytes: record } of answer.records ?? []) recalled[key] = record
  }
  return costs
}

const SIZES = [1e3, 1e4, 1e5, 1e6, 1e7, 3e7]
const SLOPE = 1.1

/** Encodes of one result, by its size. */
export async function encodesBySize(largest: number): Promise<readonly Curve[]> {
  const curves: Curve[] = []
  for (const { name, make } of SHAPES) {
    const points: Point[] = []
    for (const size of SIZES.filter(each => each <= largest)) {
      const content = make(size)
      points.push([content.length, await costOf(() => encode({ content }))])
    }
    curves.push({ name, by: 'characters', goal: SLOPE, points })
  }
  return curves
}
