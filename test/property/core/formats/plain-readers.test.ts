import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classify } from '../../../../src/core/classify/classify.ts'
import { csv } from '../../../../src/core/formats/json/csv.ts'
import { formatId } from '../../../../src/core/formats/json/json-format.ts'
import { tree } from '../../../../src/core/formats/json/tree/tree.ts'
import { diff } from '../../../../src/core/formats/text/diff.ts'
import { ndjson } from '../../../../src/core/formats/text/ndjson.ts'
import { numbered } from '../../../../src/core/formats/text/numbered.ts'
import { prefixed } from '../../../../src/core/formats/text/prefixed.ts'
import { templated } from '../../../../src/core/formats/text/templated.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import type { TokenCounter } from '../../../../src/core/tokens/counter.ts'
import { lengthCounter } from '../../../support/length-counter.ts'
import { readDiff } from '../../../support/plain-readers/plain-texts.ts'
import { readPlainly } from '../../../support/plain-readers/readers.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { arbitraryToolText } from './arbitrary-text.ts'
import { arbitraryTree } from './tree-values.ts'

const RUNS = fewRuns(2_000, 50)

/** What a format chooses by: texts of the grammar that a choice by tokens would never send. */
const WHIMS: readonly ((text: string) => number)[] = [
  text => text.length,
  text => text.split(/[[{]/).length,
  text => text.split('\n').length,
  text => -text.length,
]

function counterOf(count: (text: string) => number): TokenCounter {
  return { id: 'whim', exact: false, count, countUpTo: count }
}

/**
 * Strings that are JSON compare by what they say: a plain reader does not ask how they are spaced.
 */
function meaning(value: unknown): unknown {
  if (typeof value === 'string' && /^[[{]/.test(value)) {
    try {
      // Written once, so that numbers have the spelling that a reader gives them.
      return { json: meaning(JSON.parse(JSON.stringify(JSON.parse(value)))) }
    } catch {
      return value
    }
  }
  if (Array.isArray(value)) return value.map(meaning)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, meaning(inner)]))
}

describe.each([csv, tree])('$id', format => {
  it('says to a reader who knows only the grammar what it was made of', () => {
    let read = 0
    fc.assert(
      fc.property(arbitraryTree, fc.constantFrom(...WHIMS), (value, whim) => {
        const accepts = format.accepts(value, classify('', value))
        const text = accepts ? format.encode(value, counterOf(whim)) : null
        if (text === null) return
        read++
        const json: unknown = JSON.parse(writeJson(value))
        expect(meaning(readPlainly(formatId(format), text))).toEqual(meaning(json))
      }),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThanOrEqual(leastHits(RUNS / 20))
  })
})

type NumberedLine = { readonly line: number | null; readonly text: string }

/** A whole deleted file has the numbers of the old file, and so it is told by its lines alone. */
function linesOfDiff(reading: unknown): unknown {
  return (reading as DiffLine[])
    .filter(({ sign }) => sign !== '\\')
    .map(({ line, sign, text }) => (sign === '-' ? `-${text}` : `${line}${sign}${text}`))
}

type DiffLine = { readonly line: number; readonly sign: string; readonly text: string }

/**
 * For each text format, what a reading says of the text it was made of, and the text itself as
 * such.
 */
const TEXT_READINGS = [
  {
    format: diff,
    said: linesOfDiff,
    is: (text: string) => linesOfDiff(readDiff(text)),
  },
  {
    format: prefixed,
    said: (reading: unknown) => reading,
    is: (text: string) => text.split('\n'),
  },
  {
    format: numbered,
    said: (reading: unknown) =>
      (reading as NumberedLine[]).map(({ line, text }) =>
        line === null ? text : `${line} ${text}`,
      ),
    is: (text: string, style: string) => {
      const sign = { arrow: '→', tab: '\t', colon: ':' }[style] ?? ''
      const gutter = new RegExp(`^(?=.{1,12}${sign}) *(\\d+)${sign}`, 's')
      return text.split('\n').map(line => line.replace(gutter, (_, digits) => `${Number(digits)} `))
    },
  },
  {
    format: templated,
    said: (reading: unknown) => reading,
    is: (text: string) => text.split('\n'),
  },
  {
    format: ndjson,
    said: meaning,
    is: (text: string) =>
      text
        .replace(/\n$/, '')
        .split('\n')
        .map(line => meaning(JSON.parse(line))),
  },
]

describe.each(TEXT_READINGS)('$format.id', ({ format, said, is }) => {
  it('says to a reader who knows only the grammar what stood there', () => {
    const tools = { counter: lengthCounter(1), formats: [csv, tree] }
    let read = 0
    fc.assert(
      fc.property(arbitraryToolText, text => {
        if (!format.accepts(text, classify(text, undefined))) return
        for (const { content, style } of format.encode(text, tools)) {
          read++
          expect(said(readPlainly(`${format.id}@1;${style}`, content))).toEqual(is(text, style))
        }
      }),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThanOrEqual(leastHits(RUNS / 100))
  })
})
