import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { takeFaults } from '../../../../src/core/base/attempt.ts'
import { AppError } from '../../../../src/core/base/errors.ts'
import { classify } from '../../../../src/core/classify/classify.ts'
import type { JsonFormat } from '../../../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { cheapestJson } from '../../../../src/core/formats/text/inner-json.ts'
import { innerTexts } from '../../../../src/core/formats/text/inner-text.ts'
import { TEXT_FORMATS } from '../../../../src/core/formats/text/registry.ts'
import type { TextFormat } from '../../../../src/core/formats/text/text-format.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { createJsonLayer, createTextLayer } from '../../../../src/core/pipeline/format-layer.ts'
import { passGate } from '../../../../src/core/pipeline/gate.ts'
import type { LayerInput } from '../../../../src/core/pipeline/layer.ts'
import { createPrices } from '../../../../src/core/pipeline/prices.ts'
import { localContext } from '../../../support/local-context.ts'
import { runs } from '../../../support/runs.ts'

const ERRORS = [
  () => new AppError('payload_too_large', 'the decoded content is above 62 characters'),
  () => new RangeError('Maximum call stack size exceeded'),
  () => new TypeError('x is undefined'),
  () => 'a string',
]
type Step = 'accepts' | 'steps' | 'encode' | 'decode'

/** The format, except that one step of it throws. */
function throwing<T extends JsonFormat | TextFormat>(
  format: T,
  step: Step,
  error: () => unknown,
): T {
  const planted = () => {
    throw error()
  }
  const faster = { encode: 'weigh', decode: 'restores', accepts: step, steps: step }[step]
  return { ...format, [step]: planted, ...(faster in format ? { [faster]: planted } : {}) }
}

const TEXTS = [
  '[{"id":1,"name":"one"},{"id":2,"name":"two"},{"id":3,"name":"three"}]',
  '{"a":{"b":[1,2,3],"c":"some text\\nof\\nfour\\nlines"}}   ',
  'src/one.ts:1: the first\nsrc/one.ts:2: the second\nsrc/one.ts:3: the third\nsrc/one.ts:9: x\n',
  '{"level":"info","n":1}\n{"level":"info","n":2}\n{"level":"warn","n":3}\n',
  '     1\tone\n     2\ttwo\n     3\tthree\n     4\tfour\n     5\tfive\n     6\tsix\n',
  'name: api\nversion: 2\nbanner: "line one\\\\nline two"\nport: 8080\n',
]

function inputOf(content: string): LayerInput {
  const parsed = parseJson(content)
  const value = parsed.ok ? parsed.value : undefined
  return {
    request: { content },
    content,
    value,
    shape: classify(content, value),
    prices: createPrices(content, 'o200k_base', localContext().counters),
    isCompact: parsed.ok && parsed.compact,
  }
}

const planted = fc.record({
  text: fc.constantFrom(...TEXTS),
  step: fc.constantFrom<Step>('accepts', 'steps', 'encode', 'decode'),
  error: fc.constantFrom(...ERRORS),
  values: fc.subarray([...JSON_FORMATS]),
  texts: fc.subarray([...TEXT_FORMATS]),
})

describe('formats that throw', () => {
  it('are declined, and no others with them', () => {
    fc.assert(
      fc.property(planted, ({ text, step, error, values, texts }) => {
        const input = inputOf(text)
        const brokenValues = JSON_FORMATS.map(format =>
          values.includes(format) ? throwing(format, step, error) : format,
        )
        const brokenTexts = TEXT_FORMATS.map(format =>
          texts.includes(format) ? throwing(format, step, error) : format,
        )
        const sent = (which: readonly JsonFormat[], all: readonly TextFormat[]) => [
          passGate(createJsonLayer(which).propose(input), [])?.content,
          passGate(createTextLayer(all, which).propose(input), [])?.content,
        ]
        takeFaults()
        const found = sent(brokenValues, brokenTexts)
        // Only decoding comes after the choice of what is inside.
        const whole = JSON_FORMATS.filter(format => !values.includes(format))
        const rest = TEXT_FORMATS.filter(format => !texts.includes(format))
        if (step !== 'decode') expect(found).toEqual(sent(whole, rest))
      }),
      { numRuns: runs(3_000) },
    )
  })

  it('are declined inside of other formats', () => {
    const { counters } = localContext()
    const counter = counters.get('o200k_base')
    for (const error of ERRORS) {
      for (const step of ['accepts', 'encode'] as const) {
        const values = JSON_FORMATS.map(format => throwing(format, step, error))
        const texts = TEXT_FORMATS.map(format => throwing(format, step, error))
        takeFaults()
        expect(cheapestJson([1, 2], { counter, formats: values }, 5, () => true)).toBeNull()
        expect(innerTexts(TEXTS[2]!, texts, { counter, formats: values })).toEqual([])
        expect(takeFaults().length).toBeGreaterThan(0)
      }
    }
  })
})
