import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import type { EncodeAnswer, EncodeRequest } from '../../../../src/core/contract/encode.ts'
import { decode, encode } from '../../../../src/index.ts'

const rows = Array.from({ length: 20 }, (_, id) => ({ id, name: `user ${id}`, note: null }))
const table = JSON.stringify(rows, null, 2)

function failure(request: EncodeRequest): AppError {
  try {
    encode(request)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('no failure')
}

function restored({ content, format }: EncodeAnswer) {
  return decode({ content, format })
}

function savings({ tokens, savings: saved }: EncodeAnswer): number {
  expect(saved).toEqual({
    dedup_tokens: 0,
    encoder_tokens: tokens.baseline - tokens.final,
    elided_tokens: 0,
  })
  return saved.encoder_tokens
}

describe('encode', () => {
  it('sends an array of objects as the cheapest format, and accounts for it', () => {
    const answer = encode({ content: table })
    expect(answer).toMatchObject({
      layer: 'L2',
      format: 'tree@2',
      shape: 'array_of_objects',
      lossless: true,
      truncated: false,
      hints: [],
      elided: [],
      bytes: { raw: Buffer.byteLength(table), output: Buffer.byteLength(answer.content) },
      compression_ratio: Buffer.byteLength(answer.content) / Buffer.byteLength(table),
      tokens: { tokenizer: 'o200k_base', exact: true },
    })
    expect(answer).not.toHaveProperty('agent_hint')
    expect(savings(answer)).toBeGreaterThan(answer.tokens.baseline / 2)
    expect(JSON.parse(restored(answer).content)).toEqual(rows)
  })

  it('is the same every time', () => {
    expect(encode({ content: table })).toEqual(encode({ content: table }))
  })

  it('passes text through as it is', () => {
    const answer = encode({ content: 'Plain words.\r\nNo table.' })
    expect(answer).toMatchObject({
      content: 'Plain words.\r\nNo table.',
      layer: 'L3',
      format: 'passthrough',
      savings: { encoder_tokens: 0 },
    })
    expect(restored(answer)).toEqual({
      content: 'Plain words.\r\nNo table.',
      media_type: 'text/plain',
    })
  })

  it.each([
    ['', 'empty'],
    ['[]', 'empty'],
    ['1', 'prose'],
    ['{"a":1}', 'flat_object'],
  ])('never makes %j bigger', (content, shape) => {
    const answer = encode({ content })
    expect(answer.shape).toBe(shape)
    expect(answer.tokens.final).toBeLessThanOrEqual(answer.tokens.baseline)
  })

  it('chooses among the named formats only', () => {
    expect(encode({ content: table, formats: ['json_compact'] }).format).toBe('json_compact@1')
    expect(encode({ content: table, formats: ['md@1'] }).format).toBe('passthrough')
    expect(encode({ content: table, formats: [] }).format).toBe('passthrough')
    expect(failure({ content: table, formats: ['csv', 'xml'] }).extras.errors?.[0]?.path).toBe(
      'formats.1',
    )
  })

  it('says the smallest lossless answer where the budget is below it', () => {
    const { tokens } = encode({ content: table })
    expect(encode({ content: table, budget_tokens: tokens.final }).tokens.final).toBe(tokens.final)
    const error = failure({ content: table, budget_tokens: tokens.final - 1 })
    expect(error.code).toBe('budget_too_small')
    expect(error.extras.minimum_tokens).toBe(tokens.final)
  })

  it('counts with the tokenizer that was asked for, and says where it is an estimate', () => {
    expect(encode({ content: table, tokenizer: 'cl100k_base' }).tokens).toMatchObject({
      tokenizer: 'cl100k_base',
      exact: true,
    })
    const answer = encode({ content: table, model: 'claude-sonnet-4-6' })
    expect(answer.tokens).toMatchObject({ tokenizer: 'anthropic_class', exact: false })
    expect(failure({ content: table, tokenizer: 'nope' }).code).toBe('invalid_request')
  })

  it('gives pagination and sort back', () => {
    const given = {
      pagination: { total: 9, returned: 3, next: 'c2' },
      sort: { by: 'age', order: 'desc', available: ['age'] },
    }
    expect(encode({ content: 'x', ...given })).toMatchObject(given)
  })
})

describe('odd content', () => {
  it.each([
    ['NUL and control characters', '{"a":"\\u0000\\u001f","b":"\\u007f"}'],
    ['raw control characters in text', 'a\u0000b\u0007c'],
    ['a BOM', '\u{feff}[1,2,3]'],
    ['a raw lone surrogate', 'x\ud800y'],
    ['an escaped lone surrogate', '{"a":  "\\ud800", "b": "\\udc00x"}'],
    [
      '__proto__ and constructor',
      '{ "__proto__": {"a": 1}, "constructor": "x", "toString": null }',
    ],
    ['duplicate keys', '{ "a": 1, "a": 2, "b": 3 }'],
    ['numbers beyond doubles', '[ 12345678901234567890, 1.0, -0, 1e400, 0.1e1, 1E5 ]'],
    ['integer-like keys out of order', '{ "2": "b", "1": "a", "10": "c" }'],
    ['nesting beyond the limit', `${'['.repeat(2000)}${']'.repeat(2000)}`],
    ['CRLF', '{\r\n  "a": "x\\r\\ny",\r\n  "b": 2\r\n}'],
    ['unfinished JSON', '[{"a":1},{"a":2}'],
    ['JSON with text behind', '{"a":1} trailing'],
  ])('comes back the same: %s', (_, content) => {
    const answer = encode({ content })
    expect(answer.lossless).toBe(true)
    const decoded = restored(answer)
    if (decoded.media_type === 'text/plain') expect(decoded.content).toBe(content)
    // Compact JSON keeps spelling, order and duplicates: what is left of the input without its
    // blanks.
    else expect(decoded.content).toBe(withoutBlanks(content))
  })
})

/** The JSON text without white space outside strings; escapes as `JSON.stringify` writes them. */
function withoutBlanks(json: string): string {
  return json.replace(/"(?:[^"\\]|\\.)*"|\s+/g, part =>
    part.startsWith('"') ? JSON.stringify(JSON.parse(part)) : '',
  )
}
