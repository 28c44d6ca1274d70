import type { Construct } from '../../src/core/reading/constructs.ts'
import type { Random } from '../../src/lab/bill/statistics.ts'
import { pick, times, VERBS, WORDS } from './reading.ts'

/** Texts that are read line by line, for one construct. */
interface LineKind {
  /** The format that has the construct. */
  readonly format: string
  /** Lines of which each id is in one. */
  make(ids: readonly string[], random: Random): readonly string[]
  /** What a reader sees of a line; absent: the line. */
  seen?(line: string): string
  /** What lines are counted by; absent: a word. */
  readonly counted?: string
}

/** A log of a few statements, in blocks or in turns. */
function statements(ids: readonly string[], random: Random, isInBlocks: boolean) {
  const all = [
    (id: string) =>
      `the request ${id} of tenant ${pick(random, WORDS)} took ${random(900)} ms in all`,
    (id: string) =>
      `connection ${id} from host ${pick(random, WORDS)} was closed after ${random(99)} s`,
    (id: string) =>
      `cache entry ${id} in region ${pick(random, WORDS)} has expired, size ${random(999)} kB`,
  ]
  return ids.map((id, at) => {
    const block = Math.floor((at * all.length) / ids.length)
    return all[isInBlocks ? block : random(all.length)]!(id)
  })
}

const paint = (code: number, text: string) => `\u001b[${code}m${text}\u001b[39m`

export const LINES: Readonly<Partial<Record<Construct, LineKind>>> = {
  /** Lines that come many times. */
  times: {
    format: 'prefixed',
    make(ids, random) {
      const waits = WORDS.slice(0, 4).map(
        word => `waiting for the lock of ${word}, one more second`,
      )
      const lines = ids.flatMap(id => [
        `${pick(random, WORDS)} ${pick(random, VERBS)} ${id}`,
        ...Array<string>(random(3) === 0 ? 3 + random(9) : 0).fill(pick(random, waits)),
      ])
      return [...lines, ...Array<string>(7).fill(waits[0]!), 'the last step is done']
    },
  },
  /** Hits of a search, below their paths. */
  heading: {
    format: 'prefixed',
    make(ids, random) {
      const files = times(Math.max(3, Math.ceil(ids.length / 9)), file => {
        return `src/service/${pick(random, WORDS)}/${pick(random, WORDS)}-${file}.ts`
      })
      return ids.map((id, at) => {
        const file = files[Math.floor((at * files.length) / ids.length)]!
        return `${file}:${10 + at * 3}:  ${pick(random, VERBS)}(buffer, ${id})`
      })
    },
  },
  /** A list whose indented lines begin alike. */
  indented_heading: {
    format: 'prefixed',
    make: (ids, random) =>
      ids.flatMap((id, at) => {
        const entry = `      https://packages.example.org/team/${pick(random, WORDS)}-${id}.tar.gz`
        return at % 12 === 0 ? [`  Sources of group_${at}`, entry] : [entry]
      }),
  },
  template: { format: 'templated', make: (ids, random) => statements(ids, random, true) },
  template_switch: { format: 'templated', make: (ids, random) => statements(ids, random, false) },
  /** Results of tests in colours. */
  sign: {
    format: 'terminal',
    make: (ids, random) =>
      ids.map(id => {
        const isPassed = random(5) > 0
        const mark = paint(isPassed ? 32 : 31, isPassed ? '✓' : '✗')
        const ms = paint(33, `${10 + random(900)} ms`)
        return `${mark} test/${pick(random, WORDS)}-${id}.test.ts ${ms}`
      }),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences have one
    seen: line => line.replace(/\u001b\[\d+m/g, ''),
    counted: '✗',
  },
}
