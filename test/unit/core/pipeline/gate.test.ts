import { describe, expect, it } from 'vitest'
import { takeFaults } from '../../../../src/core/base/attempt.ts'
import { AppError } from '../../../../src/core/base/errors.ts'
import { classify } from '../../../../src/core/classify/classify.ts'
import type { Refusal } from '../../../../src/core/contract/result-row.ts'
import type { JsonFormat } from '../../../../src/core/formats/json/json-format.ts'
import type { TextFormat } from '../../../../src/core/formats/text/text-format.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { createJsonLayer, createTextLayer } from '../../../../src/core/pipeline/format-layer.ts'
import { passGate } from '../../../../src/core/pipeline/gate.ts'
import { createPrices } from '../../../../src/core/pipeline/prices.ts'

/** A format that writes `text` and reads it back as `decoded`, whatever the value. */
function planted(id: string, text: string | null, decode: () => never | [] | number): JsonFormat {
  return { id, version: 1, accepts: () => true, encode: () => text, decode }
}

const charCounter = (id: string) => ({
  id,
  exact: true,
  count: (text: string) => text.length,
  countUpTo: (text: string) => text.length,
})
const counters = { get: charCounter } as Parameters<typeof createPrices>[2]

function gate(content: string, formats: readonly JsonFormat[]) {
  const parsed = parseJson(content)
  if (!parsed.ok) throw new Error(content)
  const { value } = parsed
  const refusals: Refusal[] = []
  const proposals = createJsonLayer(formats).propose({
    request: { content },
    content,
    value,
    shape: classify(content, value),
    prices: createPrices(content, 'o200k_base', counters),
    isCompact: false,
  })
  return { winner: passGate(proposals, refusals), refusals }
}

const honest = planted('honest', '[ ]', () => [])

describe('the gate', () => {
  it('refuses what decodes to another value, and takes the next best', () => {
    const { winner, refusals } = gate('[     ]', [planted('liar', '!', () => 7), honest])
    expect(winner?.format).toBe('honest@1')
    expect(refusals).toEqual([{ format: 'liar@1', reason: 'differs' }])
  })

  it('refuses what cannot be decoded', () => {
    const broken = planted('broken', '!', () => {
      throw new AppError('not_decodable', 'line 1')
    })
    expect(gate('[     ]', [broken]).refusals).toEqual([{ format: 'broken@1', reason: 'failed' }])
  })

  it('refuses what throws while it is decoded, and keeps the fault for the log', () => {
    takeFaults()
    const buggy = planted('buggy', '!', () => {
      throw new RangeError('of the content')
    })
    const { winner, refusals } = gate('[     ]', [buggy, honest])
    expect(winner?.format).toBe('honest@1')
    expect(refusals).toEqual([{ format: 'buggy@1', reason: 'failed' }])
    const [fault, ...others] = takeFaults()
    expect([fault?.format, others]).toEqual(['buggy@1', []])
    expect(fault?.trace).toMatch(/^RangeError\n\s+at /)
    expect(fault?.trace).not.toContain('of the content')
  })

  it('refuses what is as big as the input, and names it', () => {
    const { winner, refusals } = gate('[]', [planted('same', 'xy', () => [])])
    expect(winner).toBeUndefined()
    expect(refusals).toEqual([{ format: 'same@1', reason: 'bigger' }])
  })

  it('takes the first of the registry among equals', () => {
    const twin = planted('twin', '[_]', () => [])
    expect(gate('[     ]', [honest, twin]).winner?.format).toBe('honest@1')
    expect(gate('[     ]', [twin, honest]).winner?.format).toBe('twin@1')
  })

  it('leaves out what cannot say the value', () => {
    expect(gate('[     ]', [planted('mute', null, () => [])])).toEqual({ refusals: [] })
  })
})

describe('the gate of texts', () => {
  /** A text format that writes `!` and reads it back as `decoded`. */
  const plantedText = (decoded: string, json?: true): TextFormat => ({
    id: 'planted',
    version: 1,
    ...(json === undefined ? {} : { json }),
    accepts: () => true,
    encode: () => [{ content: '!', style: 'x' }],
    decode: () => decoded,
  })

  function refusalsOf(content: string, format: TextFormat): readonly Refusal[] {
    const parsed = parseJson(content)
    const value = parsed.ok ? parsed.value : undefined
    const refusals: Refusal[] = []
    const proposals = createTextLayer([format], []).propose({
      request: { content },
      content,
      value,
      shape: classify(content, value),
      prices: createPrices(content, 'o200k_base', counters),
      isCompact: false,
    })
    passGate(proposals, refusals)
    return refusals
  }

  it('lets out only what decodes to the same characters', () => {
    const differs = [{ format: 'planted@1;x', reason: 'differs' }]
    expect(refusalsOf('words ', plantedText('words '))).toEqual([])
    expect(refusalsOf('words ', plantedText('words'))).toEqual(differs)
    expect(refusalsOf('words\r\n', plantedText('words\n'))).toEqual(differs)
  })

  it('compares values where a format takes JSON', () => {
    expect(refusalsOf('{ "a": 1.0 }', plantedText('{"a":1.0}', true))).toEqual([])
    const differs = [{ format: 'planted@1;x', reason: 'differs' }]
    expect(refusalsOf('{ "a": 1.0 }', plantedText('{"a":1}', true))).toEqual(differs)
    expect(refusalsOf('{ "a": 1.0 }', plantedText('{', true))).toEqual(differs)
  })
})

describe('prices', () => {
  /** Counts characters; `x` counts `weight`. */
  const weighing = (id: string, exact: boolean, weight: number) => {
    const count = (text: string) => text.length + text.split('x').length * weight - weight
    return { id, exact, count, countUpTo: count }
  }

  it('of an estimate need both exact tokenizers to see a saving too', () => {
    const byId: Record<string, ReturnType<typeof weighing>> = {
      anthropic_class: weighing('anthropic_class', false, 0),
      o200k_base: weighing('o200k_base', true, 0),
      cl100k_base: weighing('cl100k_base', true, 5),
    }
    const prices = createPrices('123456', 'anthropic_class', {
      get: id => byId[id] as ReturnType<typeof weighing>,
    })
    expect(prices.price('123')).toBe(3)
    expect(prices.price('xxx')).toBeNull()
    expect(prices.price('1234567')).toBeNull()
  })
})
