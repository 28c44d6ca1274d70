import type { Construct } from '../../../src/core/reading/constructs.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import {
  type Asked,
  createPair,
  distinct,
  NOT_THERE,
  type Pair,
  pick,
  sizeOf,
  VERBS,
  WORDS,
  writtenIn,
} from './pair.ts'

interface LinesParts {
  readonly construct: Construct
  readonly seed: number
  readonly id: string
  readonly without: string
  /** What a reader sees, if that is not the text itself. */
  readonly lines?: readonly string[]
  readonly questions: readonly Asked<readonly string[]>[]
}

function linesPair({ construct, seed, id, without, ...parts }: LinesParts, counter: TokenCounter) {
  return createPair<readonly string[]>({
    construct,
    seed,
    data: parts.lines ?? without.split('\n'),
    with: writtenIn(id, without, counter),
    without,
    read: reading => reading as readonly string[],
    questions: parts.questions,
  })
}

/** The line with a text that only one line has. */
const copyOf = (part: string): Asked<readonly string[]> => ({
  kind: 'copy',
  text: `Copy the whole line that contains ${part}, exactly, with everything that belongs to it.`,
  answer: lines => lines.find(line => line.includes(part)) ?? '',
})
const countOf = (part: string): Asked<readonly string[]> => ({
  kind: 'count',
  text: `How many lines contain ${part}?`,
  answer: lines => String(lines.filter(line => line.includes(part)).length),
})

/** Lines that come many times. */
function timesPair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const steps = distinct(Math.ceil(sizeOf(seed) / 3), () => {
    return `${pick(random, WORDS)} ${pick(random, VERBS)} ${100 + random(90_000)}`
  })
  const waits = WORDS.slice(0, 4).map(word => `waiting for the lock of ${word}, one more second`)
  const lines = steps.flatMap(step => [
    step,
    ...Array<string>(random(3) === 0 ? 3 + random(9) : 0).fill(pick(random, waits)),
  ])
  lines.push(...Array<string>(7).fill(waits[0]!), 'the last step is done')
  const step = pick(random, steps)
  return linesPair(
    {
      construct: 'times',
      seed,
      id: 'prefixed',
      without: lines.join('\n'),
      questions: [
        {
          kind: 'count',
          text: `How many times in all does the text say "${waits[0]}"?`,
          answer: all => String(all.filter(line => line === waits[0]).length),
        },
        {
          kind: 'value',
          text: `Which line comes right before "${step}"? Say "${NOT_THERE}" if it is the first.`,
          answer: all => all[all.indexOf(step) - 1] ?? NOT_THERE,
        },
      ],
    },
    counter,
  )
}

/** Hits of a search, below their paths. */
function headingPair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const sums = distinct(sizeOf(seed), () => String(10_000 + random(90_000)))
  const files = distinct(Math.max(3, Math.ceil(sums.length / 9)), () => {
    return `src/service/${pick(random, WORDS)}/${pick(random, WORDS)}-${random(99)}.ts`
  })
  const lines = sums.map((sum, at) => {
    const file = files[Math.floor((at * files.length) / sums.length)]!
    return `${file}:${10 + at * 3}:  ${pick(random, VERBS)}(buffer, ${sum})`
  })
  const [one, other] = [pick(random, sums), pick(random, sums)]
  const file = pick(random, files)
  return linesPair(
    {
      construct: 'heading',
      seed,
      id: 'prefixed',
      without: lines.join('\n'),
      questions: [
        copyOf(`buffer, ${one}`),
        countOf(`${file}:`),
        {
          kind: 'value',
          text: `In which file is the call with ${other}? Give its path.`,
          answer: all => all.find(line => line.includes(`, ${other})`))?.split(':')[0] ?? '',
        },
        {
          kind: 'edit',
          text: `On which line of its file is the call with ${other}? Give its number.`,
          answer: all => all.find(line => line.includes(`, ${other})`))?.split(':')[1] ?? '',
        },
      ],
    },
    counter,
  )
}

/** A list whose indented lines begin alike. */
function indentedPair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const ids = distinct(sizeOf(seed), () => String(10_000 + random(90_000)))
  const lines = ids.flatMap((id, at) => {
    const entry = `      https://packages.example.org/team/${pick(random, WORDS)}-${id}.tar.gz`
    return at % 12 === 0 ? [`  Sources of group_${at}`, entry] : [entry]
  })
  const [one, other] = [pick(random, ids), pick(random, ids)]
  return linesPair(
    {
      construct: 'indented_heading',
      seed,
      id: 'prefixed',
      without: lines.join('\n'),
      questions: [
        {
          kind: 'copy',
          text: `Copy the whole address that contains ${one}.`,
          answer: all => all.find(line => line.includes(one))?.trim() ?? '',
        },
        {
          kind: 'value',
          text: `Which group has the source with ${other}?`,
          answer: all => {
            const before = all.slice(
              0,
              all.findIndex(line => line.includes(other)),
            )
            return (
              before
                .findLast(line => line.includes('group_'))
                ?.trim()
                .replace('Sources of ', '') ?? ''
            )
          },
        },
      ],
    },
    counter,
  )
}

/** A log of a few statements, in blocks or in turns. */
function templatePair(
  construct: 'template' | 'template_switch',
  seed: number,
  counter: TokenCounter,
): Pair {
  const random = createRandom(seed)
  const ids = distinct(sizeOf(seed), () => String(10_000 + random(90_000)))
  const statements = [
    (id: string) =>
      `the request ${id} of tenant ${pick(random, WORDS)} took ${random(900)} ms in all`,
    (id: string) =>
      `connection ${id} from host ${pick(random, WORDS)} was closed after ${random(99)} s`,
    (id: string) =>
      `cache entry ${id} in region ${pick(random, WORDS)} has expired, size ${random(999)} kB`,
  ]
  const lines = ids.map((id, at) => {
    const inBlocks = Math.floor((at * statements.length) / ids.length)
    return statements[construct === 'template' ? inBlocks : random(statements.length)]!(id)
  })
  const [one, other] = [pick(random, ids), pick(random, ids)]
  const word = pick(random, WORDS)
  return linesPair(
    {
      construct,
      seed,
      id: 'templated',
      without: lines.join('\n'),
      questions: [
        copyOf(one),
        countOf(`tenant ${word}`),
        {
          kind: 'value',
          text: `Which number comes last in the line about ${other}?`,
          answer: all =>
            all.find(line => line.includes(other))?.match(/\d+(?=\D*$)/)?.[0] ?? NOT_THERE,
        },
      ],
    },
    counter,
  )
}

/** Results of tests in colours. */
function signPair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const tests = distinct(sizeOf(seed), () => `test/${pick(random, WORDS)}-${random(9000)}.test.ts`)
  const results = tests.map(test => ({ test, passed: random(5) > 0, ms: 10 + random(900) }))
  const mark = (passed: boolean) => (passed ? '✓' : '✗')
  const paint = (code: number, text: string) => `\u001b[${code}m${text}\u001b[39m`
  const lines = results.map(({ test, passed, ms }) => `${mark(passed)} ${test} ${ms} ms`)
  const without = results
    .map(({ test, passed, ms }) => {
      return `${paint(passed ? 32 : 31, mark(passed))} ${test} ${paint(33, `${ms} ms`)}`
    })
    .join('\n')
  const one = pick(random, tests)
  return linesPair(
    {
      construct: 'sign',
      seed,
      id: 'terminal',
      without,
      lines,
      questions: [
        {
          kind: 'count',
          text: 'How many tests failed (✗)?',
          answer: all => String(all.filter(line => line.startsWith('✗')).length),
        },
        {
          kind: 'filter',
          text: 'Which tests failed (✗)? Give their paths.',
          answer: all =>
            all.flatMap(line => (line.startsWith('✗') ? [line.split(' ')[1]!] : [])).join(', ') ||
            'none',
        },
        {
          kind: 'value',
          text: `How many milliseconds did ${one} take?`,
          answer: all => all.find(line => line.includes(`${one} `))?.split(' ')[2] ?? '',
        },
      ],
    },
    counter,
  )
}

/** Pairs of texts that are read line by line, by their seed. */
export const LINE_PAIRS: Readonly<
  Partial<Record<Construct, (seed: number, counter: TokenCounter) => Pair>>
> = {
  times: timesPair,
  heading: headingPair,
  indented_heading: indentedPair,
  template: (seed, counter) => templatePair('template', seed, counter),
  template_switch: (seed, counter) => templatePair('template_switch', seed, counter),
  sign: signPair,
}
