import { describe, expect, it } from 'vitest'
import { templated } from '../../../../src/core/formats/text/templated.ts'
import { lengthCounter } from '../../../support/length-counter.ts'
import { FULL_RUNS } from '../../../support/runs.ts'

const LINES = FULL_RUNS ? 1_000_000 : 4_000
/** Fewer templates than are told apart. */
const TEMPLATES = FULL_RUNS ? 60_000 : 4_000
const tools = { counter: lengthCounter(4), formats: [] }

/** What is written of a text that the format accepts, after checking that it is read again. */
function written(text: string): string | null {
  expect(templated.accepts(text, { shape: 'text' } as never)).toBe(true)
  const [first] = templated.encode(text, tools)
  if (first === undefined) return null
  expect(templated.decode(first.content, '', text.length) === text).toBe(true)
  return first.content
}

/** A word of letters for each number. */
const word = (n: number) => n.toString(26).replace(/\d/g, digit => 'qrstuvwxyz'[Number(digit)]!)
const log = (count: number, lineOf: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => lineOf(at)).join('\n')

describe('templated@1', { timeout: 120_000 }, () => {
  it('is not written for a template a line, however many there are', () => {
    expect(written(log(LINES, at => `${word(at)} took ${at} ${word(at * 7)}`))).toBe(null)
    expect(written(log(LINES, at => `run ${word(at)} ${word(at * 7)} ${at}`))).not.toBe('')
  })

  it('is written for as many lines of one template, and as many of changing words', () => {
    const one = written(log(LINES, at => `worker ${at % 7} has taken ${at} ms for its job`))!
    expect(one.startsWith('A: worker {1} has taken {2} ms for its job\n\nA\n0 0\n1 1\n')).toBe(true)
    const words = written(
      log(TEMPLATES, at => `the state of job ${at} is now ${word(at)}, as planned`),
    )!
    expect(words.startsWith('A: the state of job {1} is now {2}, as planned\n\nA\n')).toBe(true)
  })

  it.each([
    [
      'files by their sizes',
      (at: number) => `${at * 37} ${word(at * 91)}.ts kept in-the-store-of-the-lake`,
      'A: {1} {2} kept in-the-store-of-the-lake\n\nA\n',
    ],
    [
      'packages by their names',
      (at: number) => `${word(at * 91)}/stable ${at}.4 all [installed,automatic]`,
      'A: {1} {2} all [installed,automatic]\n\nA\n',
    ],
  ])('is written for %s', (_, lineOf, head) => {
    expect(written(log(40, at => lineOf(at + 700)))?.startsWith(head)).toBe(true)
    const few = `${log(7, at => lineOf(at + 700))}\nx 1\ny z 2\np q r 3`
    expect(written(few)).toBe(null)
  })

  it('keeps a template that saves more than a looser one', () => {
    const lineOf = (at: number) =>
      at % 2 === 0
        ? `job ${at} of the lake has finished, all of it is well /a/${word(at)}`
        : `boat ${at} on the shore was mended with care, not in vain /a/${word(at)}`
    const content = written(log(60, at => lineOf(at + 700)))!
    expect(content.startsWith('A: job {1} of the lake has finished')).toBe(true)
    expect(content).toContain('\nB: boat {1} on the shore was mended')
  })

  describe('with numbers before tabs', () => {
    const path = (at: number) => `blocks are taken by /srv/${word(at * 91)}/${word(at * 7)}.ts`
    const numbers = {
      'sizes, as of `du -a`': (at: number) => (at % 5) * 4,
      'sizes that grow': (at: number) => at * 4,
      'sizes of which some follow one another': (at: number) => Math.ceil(at / 3) * 2 + (at % 3),
    }

    it.each(Object.entries(numbers))('is written for %s', (_, numberOf) => {
      const content = written(log(40, at => `${numberOf(at)}\t${path(at + 700)}`))
      expect(content?.startsWith('A: {1}\tblocks are taken by {2}\n\nA\n')).toBe(true)
    })

    it.each([
      ['of a file', (at: number) => `${at + 12}`],
      ['of two files', (at: number) => `${String((at % 20) + 1).padStart(6)}`],
      ['of a file, with lines between', (at: number) => `${at + Math.floor(at / 4) * 7}`],
      ['of a file, with arrows', (at: number) => `${at * 4}→`],
    ])('is not written for numbers of lines: %s', (_, numberOf) => {
      expect(written(log(40, at => `${numberOf(at)}\t${path(at + 700)}`))).toBe(null)
    })

    it('is found out once, however many lines have one', () => {
      const path = (at: number) => `blocks are taken by /srv/${word(at % 50)}/${word(at % 7)}.ts`
      const content = log(LINES, at => `${at * 4}\t${path(at)}`)
      expect(templated.accepts(content, { shape: 'text' } as never)).toBe(true)
      expect(templated.encode(content, tools)).toHaveLength(1)
    })
  })

  it('takes as many lines of listings, with names that never repeat', () => {
    expect(
      written(
        log(TEMPLATES / 4, at => `${at} blocks for /srv/${word(at)}/${word(at * 7)}`),
      )?.startsWith('A'),
    ).toBe(true)
    const two = written(log(TEMPLATES / 4, at => `${word(at)} of ${word(at * 7)} took ${at} ms`))!
    expect(two.startsWith('A: {1} of {2} took {3} ms\n\nA\n')).toBe(true)
  })

  it('is not written for a line alone, and for a line of a million words', () => {
    expect(written(`${'1 2 3\n'.repeat(3)}${'worker 7 took 12 ms, '.repeat(LINES)}`)).toBe(null)
  })

  it('has as many templates as names, those that save most; other lines stay', () => {
    const statements = 80
    const line = (at: number) => {
      const name = word(1000 + (at % statements))
      return `${name} has ${'x'.repeat(at % statements)}${name} as its job, number ${at}`
    }
    const content = written(log(statements * 4, line))!
    const head = content.slice(0, content.indexOf('\n\n')).split('\n')
    expect(head.length).toBe(52)
    expect(head.filter(each => each.includes('x'.repeat(statements - 51))).length).toBe(51)
    expect(head.filter(each => each.endsWith(': {1}')).length).toBe(1)
  })

  it.each([
    [
      'a decimal',
      at => `--- PASS: ${word(at)} (0.${10 + at}s) in all`,
      '--- PASS: {1} ({2}) in all',
    ],
    [
      'a grouped number',
      at => `it has read 1,${200 + at} rows so far`,
      'it has read {1} rows so far',
    ],
    [
      'a version',
      at => `has taken zod 4.1.${at} from the store`,
      'has taken zod {1} from the store',
    ],
    ['a sign', at => `off by -${at} ms of the clock`, 'off by {1} ms of the clock'],
    ['a date', at => `on 2026-07-${10 + (at % 9)} it was well`, 'on {1} it was well'],
    ['a time', at => `at 12:30:${10 + at} it was well`, 'at {1} it was well'],
    [
      'a time after its date',
      at => `at 2026-07-01T12:${10 + at} it was`,
      'at 2026-07-01T{1} it was',
    ],
    ['a fraction of seconds', at => `at 12:30:07.${100 + at} it was`, 'at {1} it was'],
    ['an address', at => `no answer of 10.1.2.${at} to the ping`, 'no answer of {1} to the ping'],
    ['a path', at => `see docs/${word(at * 91)}/a${at}.md of the site`, 'see {1} of the site'],
    ['a path from the top', at => `see ../../${word(at)}/${at} for it`, 'see {1} for it'],
    ['a URL', at => `got https://${word(at)}.example/${at} as told`, 'got {1} as told'],
    ['a test id', at => `tests/test_${at}.py::test_a has PASSED it`, '{1} has PASSED it'],
    ['a file name', at => `wrote report-${at}.txt for all of us`, 'wrote {1} for all of us'],
    ['a share', at => `has read (${at}/64) of the pages`, 'has read ({1}/64) of the pages'],
    [
      'a place in a file',
      at => `a.ts(${at},${at % 7}): error TS7 in it`,
      'a.ts({1}): error TS7 in it',
    ],
    ['the end of a sentence', at => `it took as many ms: ${at}.`, 'it took as many ms: {1}.'],
  ] as readonly (readonly [string, (at: number) => string, string])[])(
    'keeps %s whole in a cell',
    (_, lineOf, template) => {
      const content = written(log(60, at => `the worker says ${lineOf(at + 1)}`))!
      expect(content.slice(0, content.indexOf('\n'))).toBe(`A: the worker says ${template}`)
    },
  )

  it('is not written for source code and settings, though they repeat', () => {
    for (const line of [
      (at: number) => `  const row${at} = await load(${at * 3}, "the options of the row")`,
      (at: number) => `  await load(${at * 3}, "the options of the row")[${at}];`,
      (at: number) => `  row(${at}): the options of the row ${at} {`,
      (at: number) => `  [${at}, the options of the row ${at}],`,
      (at: number) => `net.ipv4.conf.eth${at}.accept = the options of the row ${at}`,
      (at: number) => `  load(${at}, the_options_of_the_row) // as said in the chapter ${at}`,
      (at: number) => `  the_options += of_the_row and ${at} or the_other_one`,
    ]) {
      const text = log(40, line)
      const isTaken = templated.accepts(text, { shape: 'text' } as never)
      expect(isTaken && templated.encode(text, tools).length > 0).toBe(false)
    }
    const names = log(400, at => `  load all of the options of ${word(at)} from the table`)
    expect(templated.accepts(names, { shape: 'text' } as never)).toBe(false)
  })
})
