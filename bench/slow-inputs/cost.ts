import { valueSymbol } from 'piscina'
import { BYTE_OPERATIONS, OPERATIONS } from '../../src/core/operations/registry.ts'
import { rewriteOp } from '../../src/core/operations/rewrite-op.ts'
import { createRandom, median } from '../../src/lab/bill/statistics.ts'
import type { BatchResult } from '../../workers/protocol.ts'
import { createRunner } from '../../workers/thread.ts'
import { generatedResults } from '../support/generated-results.ts'
import { benchSetup } from '../support/worker-setup.ts'

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

/** Numbers from 0 up to a bound (exclusive). */
type Random = (below: number) => number

/** What stands before, between and after the pieces of an input. */
const WRAPS = { list: ['[', ',', ']'], object: ['{', ',', '}'], lines: ['', '\n', ''] } as const
type Wrap = keyof typeof WRAPS
const WRAP_NAMES: readonly Wrap[] = ['list', 'object', 'lines']

/**
 * An input of any length: its pieces in turn. `#` in a piece is how many pieces stand before it.
 */
export interface Input {
  readonly wrap: Wrap
  readonly pieces: readonly string[]
}

const SCALARS = ['0', '#', '1.0', '#.25', '1e400', 'null', '""', '"a"', '"#"', '"a\\nb"']
const STRINGS = [
  '"\\u0000"',
  '"{\\"a\\":[#]}"',
  '"[[],[],[],[],[],[]]"',
  '"https://a.b/#"',
  '"x y. "',
]
const KEYS = ['a', 'b', 'k#', '', 'a b', 'id']
const LINES = ['', 'x', ' ', '\r', '|---|', '|', '| a | b |', '|||', '#→x', '#:', '#\t', '```']
const LONGER = ['src/a/f.ts:#:x', 'src/a/f#.ts', '@@ -1,9 +1,9 @@', '# h', '- x', '\tat a.b(c:#)']
const PROSE = ['2026-01-02 03:04:05 x #', 'This must be so. ', '<a>', 'key: #', '×#', 'lalalala']
const MAX_PIECES = 6
const MAX_DEPTH = 3
const MAX_NESTING = 50

function oneOf<T>(random: Random, choices: readonly T[]): T {
  return choices[random(choices.length)]!
}

function several(random: Random, make: () => string): string {
  return Array.from({ length: random(4) }, make).join(',')
}

function randomValue(random: Random, depth: number): string {
  const inner = () => randomValue(random, depth + 1)
  switch (depth < MAX_DEPTH ? random(6) : random(2)) {
    case 0:
      return oneOf(random, SCALARS)
    case 1:
      return oneOf(random, STRINGS)
    case 2:
      return nested(random, inner())
    case 3:
    case 4:
      return `{${several(random, () => memberOf(random, depth))}}`
    default:
      return `[${several(random, inner)}]`
  }
}

/** A value in many arrays, or in many objects of one member. */
function nested(random: Random, value: string): string {
  const times = 1 + random(MAX_NESTING)
  const [open, close] = oneOf(random, [
    ['[', ']'],
    ['{"a":', '}'],
    ['[0,', ']'],
  ])
  return open.repeat(times) + value + close.repeat(times)
}

function memberOf(random: Random, depth: number): string {
  return `"${oneOf(random, KEYS)}":${randomValue(random, depth + 1)}`
}

function pieceOf(random: Random, wrap: Wrap): string {
  if (wrap === 'list') return randomValue(random, 0)
  if (wrap === 'object') return memberOf(random, 0)
  return random(3) === 0 ? randomValue(random, 1) : oneOf(random, [...LINES, ...LONGER, ...PROSE])
}

/** An input by chance. */
export function randomInput(random: Random): Input {
  const wrap = oneOf(random, WRAP_NAMES)
  return { wrap, pieces: [pieceOf(random, wrap)] }
}

/** The input with one piece more, less, or another one. */
export function mutated({ wrap, pieces }: Input, random: Random): Input {
  const at = random(pieces.length)
  const piece = pieceOf(random, wrap)
  const choice = random(3)
  if (choice === 0 && pieces.length > 1) return { wrap, pieces: pieces.toSpliced(at, 1) }
  if (choice === 1 && pieces.length < MAX_PIECES) {
    return { wrap, pieces: pieces.toSpliced(at, 0, piece) }
  }
  return { wrap, pieces: pieces.with(at, piece) }
}

/** The input as a text of about so many characters. */
export function writeInput({ wrap, pieces }: Input, chars: number): string {
  const [open, separator, close] = WRAPS[wrap]
  const parts: string[] = []
  for (let length = 0; length < chars; ) {
    const piece = pieces[parts.length % pieces.length]!.replaceAll('#', String(parts.length))
    parts.push(piece)
    length += piece.length + separator.length
    // Pieces of nothing without a separator would never end.
    if (separator.length + piece.length === 0) break
  }
  return open + parts.join(separator) + close
}

/** Inputs that were slow once, and what the search found since. */
export const KNOWN_INPUTS: Readonly<Record<string, Input>> = {
  'line feeds': { wrap: 'lines', pieces: [''] },
  'lines of one letter': { wrap: 'lines', pieces: ['x'] },
  '|---| rows': { wrap: 'lines', pieces: ['|---|'] },
  'keys with long numbers that are none, a line each': {
    wrap: 'lines',
    pieces: [`k#: ${'1'.repeat(60)}x`],
  },
  'small tables': { wrap: 'lines', pieces: ['|a|', '|---|', '|b|', ''] },
  'empty objects, a line each': { wrap: 'lines', pieces: ['{}'] },
  'objects of one member, a line each': { wrap: 'lines', pieces: ['{"a":1}'] },
  'objects with a key of their own, a line each': { wrap: 'lines', pieces: ['{"k#":1}'] },
  'different keys': { wrap: 'object', pieces: ['"k#":#'] },
  'one key again and again': { wrap: 'object', pieces: ['"a":1'] },
  'objects with a key of their own': { wrap: 'list', pieces: ['{"k#":#}'] },
  'objects in objects': { wrap: 'object', pieces: ['"k#":{"j#":{"l#":1}}'] },
  'lists in an object': { wrap: 'object', pieces: ['"k#":[1]'] },
  'empty objects': { wrap: 'list', pieces: ['{}'] },
  'empty lists': { wrap: 'list', pieces: ['[]'] },
  'lists in 200 lists': { wrap: 'list', pieces: ['['.repeat(200) + ']'.repeat(200)] },
  'objects in 60 objects': { wrap: 'list', pieces: [`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`] },
  'rows of two orders': { wrap: 'list', pieces: ['{"a":#,"b":1}', '{"b":#,"a":1}'] },
  'JSON in strings': { wrap: 'list', pieces: ['"{\\"a\\":#,\\"b\\":[1,2,3],\\"c\\":\\"x y\\"}"'] },
  'brackets in strings': { wrap: 'list', pieces: ['"[[],[],[],[],[],[]]"'] },
  'strings of two lines': { wrap: 'list', pieces: ['"a\\nb"'] },
  'empty strings': { wrap: 'list', pieces: ['""'] },
  'members of many kinds': {
    wrap: 'object',
    pieces: [
      '"a":[[1e400,null,1e400]]',
      '"b":[{"":"[[],[],[],[],[],[]]","b":"{\\"a\\":[#]}"},{},{"a":"a","":1e400}]',
      '"k#":{"b":[],"a b":"#"}',
      '"":"\\u0000"',
    ],
  },
  'objects in objects, a line each': {
    wrap: 'lines',
    pieces: ['{"k#":{"a b":"https://a.b/#","b":"\\u0000","":0}}'],
  },
  'objects in 40 objects, a line each': {
    wrap: 'lines',
    pieces: [`${'{"a":'.repeat(40)}"a\\nb"${'}'.repeat(40)}`],
  },
  numbers: { wrap: 'list', pieces: ['0'] },
}
