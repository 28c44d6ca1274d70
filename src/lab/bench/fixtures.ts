import { hash } from 'node:crypto'
import type { BenchKind } from './critical.ts'

/** A text that was made up, and what must be found in what is left of it. */
export interface Fixture {
  readonly name: string
  readonly kind: BenchKind
  readonly text: string
  /** Substrings; all of them tell something that a reader must not miss. */
  readonly critical: readonly string[]
  /** A question that one of them answers. */
  readonly question: string
  readonly answer: string
}

export const SIZES = ['small', 'medium', 'large'] as const
export type Size = (typeof SIZES)[number]

/**
 * Fixtures of each kind by size, and how long each is, in units of its kind: lines, items, matches.
 */
const COUNTS = { small: 1, medium: 12, large: 60 } as const satisfies Record<Size, number>
const LEAST_UNITS = 80
const MORE_UNITS = 160

const ADJECTIVES = ['quiet', 'amber', 'brisk', 'plain', 'late', 'round', 'steep', 'dry', 'odd']
const NOUNS = ['harbor', 'ledger', 'engine', 'garden', 'window', 'parcel', 'signal', 'bridge']

/**
 * Whole numbers below a bound, the same for the same seed (Lehmer's generator, modulus 2^31 - 1).
 */
function numbers(seed: number): (below: number) => number {
  let state = (seed * 7_919 + 104_729) % 2_147_483_647
  return below => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

type Draw = ReturnType<typeof numbers>

function wordsOf(draw: Draw): string {
  return `${ADJECTIVES[draw(ADJECTIVES.length)]}-${NOUNS[draw(NOUNS.length)]}`
}

/** The fixtures of a size, five of each seed, always the same. */
export function fixturesOf(size: Size): readonly Fixture[] {
  const seeds = Array.from({ length: COUNTS[size] }, (_, seed) => seed)
  return seeds.flatMap(seed => [
    jsonFixture(seed),
    logFixture(seed),
    searchFixture(seed),
    diffFixture(seed),
    codeFixture(seed),
  ])
}

/** Whether a fixture is held out: by its name, so that it is whatever else there is. */
export function isHeldOut({ name }: Pick<Fixture, 'name'>, share: number): boolean {
  return Number.parseInt(hash('sha256', name, 'hex').slice(0, 8), 16) < share * 2 ** 32
}

function jsonFixture(seed: number): Fixture {
  const draw = numbers(seed + 1)
  const count = LEAST_UNITS + draw(MORE_UNITS)
  const bad = 10 + draw(count - 20)
  const code = 1_000 + draw(9_000)
  const job = wordsOf(draw)
  const jobs = Array.from({ length: count }, (_, id) => ({
    id,
    name: id === bad ? job : wordsOf(draw),
    state: 'done',
    seconds: 20 + draw(40),
    error: id === bad ? `worker lost, code ${code}` : null,
  }))
  return {
    name: `json-${seed}`,
    kind: 'json',
    text: JSON.stringify(seed % 2 === 0 ? jobs : { total: count, jobs }, null, 2),
    critical: [`worker lost, code ${code}`],
    question: 'One job has an error. What is its code?',
    answer: String(code),
  }
}

function logFixture(seed: number): Fixture {
  const draw = numbers(seed + 2)
  const count = LEAST_UNITS + draw(MORE_UNITS)
  const bad = 10 + draw(count - 20)
  const port = 2_000 + draw(6_000)
  const time = (at: number) =>
    `12:${String(at % 60).padStart(2, '0')}:${String(draw(60)).padStart(2, '0')}`
  const lines = Array.from({ length: count }, (_, at) => {
    return `${time(at)} INFO  ${wordsOf(draw)} handled request ${draw(9_999)} in ${draw(90)} ms`
  })
  const critical = [
    `${time(bad)} FATAL ${wordsOf(draw)} cannot bind port ${port}`,
    `    at listen (server/${wordsOf(draw)}.js:${1 + draw(300)}:${1 + draw(80)})`,
    `    at start (main.js:${1 + draw(300)}:3)`,
  ]
  const warning = `${time(3)} WARN  ${wordsOf(draw)} is slow`
  for (const [at, line] of critical.entries()) lines.splice(bad + at, 0, line)
  lines.splice(7, 0, warning)
  return {
    name: `log-${seed}`,
    kind: 'log',
    text: lines.join('\n'),
    critical: [...critical, warning],
    question: 'Which port could not be bound?',
    answer: String(port),
  }
}

function searchFixture(seed: number): Fixture {
  const draw = numbers(seed + 3)
  const count = LEAST_UNITS + draw(MORE_UNITS)
  const bad = 60 + draw(count - 60)
  const line = 1 + draw(900)
  const lines = Array.from({ length: count }, (_, at) => {
    return `src/${NOUNS[(at / 40) | 0]}/part.ts:${at * 3 + 1}:  const ${wordsOf(draw).replace('-', '_')} = load(${draw(99)})`
  })
  const critical = `src/zone/last.ts:${line}:  // failed to load: keep the old one`
  lines[bad] = critical
  return {
    name: `search-${seed}`,
    kind: 'search',
    text: lines.join('\n'),
    critical: [critical],
    question: 'On which line of src/zone/last.ts is a failure to load mentioned?',
    answer: String(line),
  }
}

function diffFixture(seed: number): Fixture {
  const draw = numbers(seed + 4)
  const context = (count: number) =>
    Array.from({ length: count }, () => ` keep('${wordsOf(draw)}', ${draw(99)})`)
  const critical: string[] = []
  const lines = ['diff --git a/app.ts b/app.ts', '--- a/app.ts', '+++ b/app.ts']
  const limit = 100 + draw(900)
  let at = 1
  for (let nth = 0; nth < 4; nth++) {
    const around = 12 + draw(20)
    const change = [
      `-limit(${nth === 2 ? 50 : draw(50)})`,
      `+limit(${nth === 2 ? limit : 51 + draw(40)})`,
    ]
    const length = 2 * around + 1
    const header = `@@ -${at},${length} +${at},${length} @@`
    const hunk = [header, ...context(around), ...change, ...context(around)]
    for (const line of hunk) lines.push(line)
    // Headers are written again, for the lines that stay.
    for (const line of change) critical.push(line)
    at += length + 200
  }
  return {
    name: `diff-${seed}`,
    kind: 'diff',
    text: lines.join('\n'),
    critical,
    question: 'What is the argument of limit that 50 was changed to?',
    answer: String(limit),
  }
}

function codeFixture(seed: number): Fixture {
  const draw = numbers(seed + 5)
  const critical: string[] = []
  const most = 10 + draw(90)
  const methods = Array.from({ length: 8 + draw(12) }, (_, index) => {
    const signature = `  ${wordsOf(draw).replace('-', '_')}${index}(input: string, depth = ${index}): number {`
    critical.push(signature)
    const statements = Array.from({ length: 8 + draw(10) }, () => {
      return `    this.note('${wordsOf(draw)}', input.length * ${draw(50)})`
    })
    if (index === 3) {
      const stop = `    if (depth > ${most}) throw new RangeError('too deep')`
      statements.splice(4, 0, stop)
      critical.push(stop)
    }
    return [signature, ...statements, '    return depth', '  }'].join('\n')
  })
  return {
    name: `code-${seed}`,
    kind: 'code',
    text: [
      "import { Base } from './base.ts'",
      '',
      'export class Walker extends Base {',
      ...methods,
      '}',
      '',
    ].join('\n'),
    critical,
    question: 'Above which depth is a RangeError thrown?',
    answer: String(most),
  }
}
