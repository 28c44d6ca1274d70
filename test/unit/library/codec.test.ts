import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encode } from '../../../src/index.ts'
import { createCodec } from '../../../src/library/codec.ts'
import { CACHE_DIR } from '../../support/vocabularies.ts'

const CALL = { tool: 'list_orders', args: { page: 1 } }
const ORDERS = JSON.stringify(
  Array.from({ length: 30 }, (_, at) => ({ id: 1000 + at, status: 'open', total: `${at}.50` })),
)

describe('a codec', () => {
  it('answers what the library answers, and its texts decode to the very input', async () => {
    const codec = await createCodec({ cacheDir: CACHE_DIR })
    const log = 'GET /a 200\n'.repeat(40)
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string(), fc.constantFrom(ORDERS, log)), content => {
        const answer = codec.encode(content, CALL)
        expect(answer).toEqual(encode({ content, ...CALL }))
        expect(codec.count(answer.content)).toBe(answer.tokens.final)
        const decoded = codec.decode(answer.content, answer.format)
        if (answer.layer === 'L3') expect(decoded).toBe(content)
        else expect([content, compact(content)]).toContain(decoded)
      }),
      { numRuns: 60 },
    )
  })

  it('writes the named formats only, and counts by the named tokenizer', async () => {
    const codec = await createCodec({
      cacheDir: CACHE_DIR,
      formats: ['csv'],
      tokenizer: 'cl100k_base',
    })
    const answer = codec.encode(ORDERS)
    expect(answer).toMatchObject({ format: 'csv@1', tokens: { tokenizer: 'cl100k_base' } })
    const { candidates } = codec.explain(ORDERS)
    expect(candidates.map(({ format }) => format)).toEqual(['csv@1'])
  })

  it.each([{ tokenizer: 'p50k' }, { formats: ['xml'] }])('is not made for %j', async options => {
    const made = createCodec({ cacheDir: CACHE_DIR, ...options })
    await expect(made).rejects.toMatchObject({ code: 'invalid_request' })
  })

  it('passes through what is nested too deeply', async () => {
    const codec = await createCodec({ cacheDir: CACHE_DIR })
    const deep = `${'['.repeat(300)}${']'.repeat(300)}`
    expect(codec.encode(deep).content).toBe(deep)
  })
})

function compact(content: string): string | null {
  try {
    return JSON.stringify(JSON.parse(content))
  } catch {
    return null
  }
}
