import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'
import { leastHits } from '../../../../support/runs.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import {
  findCalled,
  linesNamed,
  type Reader,
  readerOf,
  type Target,
  textOf,
  textsOf,
} from './reader.ts'

const RUNS = fewRuns(150, 3)
const local = localContext()
const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
const CONFIGURATIONS = [
  {},
  { dedup: { enabled_per_endpoint: { Read: false } } },
  { mckp: { formats_enabled: ['json_compact'] }, templates: { active: [] } },
].map(each => pipelineSchema.parse(each))

/** Lines that no format makes smaller. */
const page = (seed: number, lines = 12) =>
  Array.from({ length: lines }, (_, i) => hash('sha256', `${seed} ${i}`, 'base64url')).join('\n')
/** A file as agents read it, from some line on. */
const numbered = (seed: number, first: number, lines = 14) =>
  page(seed, first + lines)
    .split('\n')
    .slice(first)
    .map((line, i) => `${String(first + i + 1).padStart(6)}→const ${line}`)
    .join('\n')
const log = (seed: number) =>
  Array.from({ length: 300 }, (_, i) => `10:00:${i % 60} INFO ${page(seed * 1000 + i, 1)}`).join(
    '\n',
  )

const seed = fc.nat(2)
const text = fc.oneof(
  { arbitrary: seed.map(n => page(n)), weight: 3 },
  fc
    .tuple(seed, fc.nat(11))
    .map(([n, at]) => page(n).split('\n').with(at, `changed ${at}`).join('\n')),
  fc.tuple(seed, fc.nat(3)).map(([n, first]) => numbered(n, first)),
  fc.tuple(seed, seed).map(([a, b]) => `${page(a)}\n${numbered(b, 0)}\n${page(a + 7, 15)}`),
  seed.map(n => page(n + 7, 15)),
  seed.map(n => `> [ref 0a1b2c3d Read 1 call ago]\n${page(n)}`),
  seed.map(log),
  seed.map(n =>
    JSON.stringify(
      Array.from({ length: 9 }, (_, id) => ({ id, name: page(n, 1) })),
      null,
      1,
    ),
  ),
  fc.constant('ok'),
)
const content = fc.oneof(
  { arbitrary: text, weight: 4 },
  text.map(each => [{ type: 'text', text: each }]),
  text.map(each => [
    { type: 'image', source: {} },
    { type: 'text', text: each },
  ]),
  {
    arbitrary: fc.tuple(text, text).map(all => all.map(each => ({ type: 'text', text: each }))),
    weight: 2,
  },
  fc.constant([]),
)
const call = fc.record({
  name: fc.constantFrom('Read', 'Bash', 'Write', 'headroom_retrieve', 'a "b"]\n'),
  input: fc.oneof(
    fc.constant({}),
    fc.record({ file_path: fc.constantFrom('/a.ts', '/b.ts'), content: seed.map(n => page(n)) }),
  ),
  content,
  isError: fc.integer({ max: 5, min: 0 }).map(n => n === 0),
})
const turn = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  ids: fc.constantFrom('new', 'anew', 'empty'),
  isReversed: fc.integer({ min: 0, max: 3 }).map(n => n === 0),
  byServer: fc.boolean(),
})

type SomeTurn = typeof turn extends fc.Arbitrary<infer T> ? T : never

/** A result of two parts, and the second of them again: referred to, whatever is drawn. */
const CERTAIN: SomeTurn[] = [[1, 2].map(n => ({ type: 'text', text: page(n) })), page(2)].map(
  content => ({
    calls: [{ name: 'Read', input: {}, content, isError: false }],
    ids: 'new',
    isReversed: false,
    byServer: false,
  }),
)

/** Messages of one turn: calls, perhaps one of the provider's own, and results. */
function messagesOf({ calls, ids, isReversed, byServer }: SomeTurn, n: number) {
  const idOf = (i: number) => ({ new: `c${n}.${i}`, anew: `call_${i}`, empty: '' })[ids]
  const server = [
    { type: 'server_tool_use', id: `s${n}`, name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: `s${n}`, content: [] },
  ]
  const uses = calls.map(({ name, input }, i) => ({ type: 'tool_use', id: idOf(i), name, input }))
  const results = calls.map(({ content, isError }, i) => ({
    type: 'tool_result',
    tool_use_id: idOf(i),
    content,
    ...(isError ? { is_error: true } : {}),
  }))
  // Nothing but the order tells results without ids apart.
  const isSwapped = isReversed && ids !== 'empty'
  return [
    { role: 'assistant', content: byServer ? [...server, ...uses] : uses },
    { role: 'user', content: isSwapped ? results.toReversed() : results },
  ]
}

/** A process with a memory, and records that it shares. */
function processWith(pipeline: (typeof CONFIGURATIONS)[number], records: Map<string, Uint8Array>) {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 19 }))
  const history = createHistoryMemory(2, 1 << 19)
  return (body: Uint8Array) => {
    const run = (recalled: Record<string, Uint8Array>) => {
      const rewrites = { tenant: '', memory, history, recalled }
      const terms = { redeems: true, bypass: false }
      return rewriteRequest(body, 'anthropic_messages', LIMITS, {
        ...local,
        keepsOriginals: true,
        pipeline,
        rewrites,
        terms,
      })
    }
    const once = run({})
    const known = once.records.flatMap(({ key }) =>
      records.has(key) ? [[key, records.get(key)!] as const] : [],
    )
    const sent = known.length === 0 ? once : run(Object.fromEntries(known))
    for (const { key, bytes, position } of sent.records) {
      records.set(key, bytes)
      if (position !== null) memory.confirm(position)
    }
    return sent.bytes
  }
}

const REFERENCE =
  /^> \[(?:ref [0-9a-f]{8}(?: (?<exact>[^l].*|l(?!ines \d).*))?|(?:ref [0-9a-f]{8} )?lines? (?<first>\d+)(?:-(?<last>\d+))?(?: of (?<call>.*?))?(?:,? (?:numbers )?[+-]\d+)?)\](?: numbered on(?: with -)?| without numbers)?$/

/** References to one of several parts that were followed. */
let parts = 0

/**
 * Follows each reference of a result with nothing but the request, and gives how many there were.
 */
function follow(before: Reader, after: Reader, at: number): number {
  const [own] = textsOf(before, at)
  const sent = textsOf(after, at)
  let followed = 0
  for (const [i, original] of textsOf(before, at).entries()) {
    const now = sent[i]!
    if (now === original) continue
    const introduced = new Map<string, Target>()
    let current = ''
    const missing: string[] = []
    for (const line of now.split('\n')) {
      const match = REFERENCE.exec(line)
      if (match === null) continue
      followed++
      const { exact, first, last = first, call } = match.groups!
      if (exact !== undefined) {
        const target = findCalled(after, at, exact)
        expect(textOf(before, target), line).toBe(original)
        if ('call' in target) {
          expect(textOf(after, target), line).not.toMatch(/ not shown \| hash=/)
          if (target.part !== undefined) parts++
        }
        continue
      }
      const ref = /^> \[ref ([0-9a-f]+)/.exec(line)?.[1] ?? current
      current = ref
      if (call !== undefined) introduced.set(ref, findCalled(after, at, call))
      const target = introduced.get(ref)
      if (target !== undefined && 'call' in target && target.part !== undefined) parts++
      expect(target, `${line} names a call`).toBeDefined()
      missing.push(...linesNamed(before, after, target!, Number(first), Number(last), line))
    }
    for (const line of missing) {
      expect(
        original.split('\n').some(each => each.endsWith(line)),
        `${line} in\n${own}`,
      ).toBe(true)
    }
  }
  return followed
}

describe('each reference of a request', () => {
  it('is true, and is followed with nothing but the request', { timeout: 60_000 }, () => {
    let followed = 0
    fc.assert(
      fc.property(
        fc.array(turn, { minLength: 2, maxLength: 6 }),
        fc.array(fc.nat(CONFIGURATIONS.length - 1), { minLength: 6, maxLength: 6 }),
        fc.boolean(),
        fc.boolean(),
        (turns, choices, redeems, isLasting) => {
          const records = new Map<string, Uint8Array>()
          const lasting = CONFIGURATIONS.map(each => processWith(each, records))
          const tools = redeems ? [{ name: 'headroom_retrieve' }] : []
          for (const n of turns.keys()) {
            const messages = turns.slice(0, n + 1).flatMap(messagesOf)
            const request = { model: 'gpt-5', tools, messages }
            const choice = choices[n]!
            const send = isLasting
              ? lasting[choice]!
              : processWith(CONFIGURATIONS[choice]!, records)
            const bytes = send(Buffer.from(JSON.stringify(request)))
            const [before, after] = [
              readerOf(request),
              readerOf(JSON.parse(Buffer.from(bytes).toString())),
            ]
            for (const at of before.keys()) followed += follow(before, after, at)
          }
        },
      ),
      { numRuns: RUNS, examples: [[CERTAIN, Array(6).fill(0), true, true]] },
    )
    expect(followed).toBeGreaterThanOrEqual(leastHits((RUNS * 4) / 3))
    expect(parts).toBeGreaterThanOrEqual(leastHits((RUNS * 2) / 15))
  })
})
