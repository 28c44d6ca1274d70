import { describe, expect, it } from 'vitest'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { type EncodeRequest, encode } from '../../../../src/index.ts'
import { localContext } from '../../../support/local-context.ts'

const indented = ['if', 'for', 'while']
  .map(word => `        assert.Equal(t, ${word}, 1)`)
  .join('\n')
const colours = Array.from({ length: 40 }, (_, i) => `\u001b[32mstep ${i}\u001b[0m`).join('\n')

function formatWith(config: object, request: Partial<EncodeRequest> = {}): string {
  const pipeline = pipelineSchema.parse(config)
  return encodeOperation.run(
    { content: colours, formats: ['terminal'], ...request },
    { ...localContext(), pipeline },
  ).answer.format
}

describe('levels of reading', () => {
  it('cut no source in balanced texts', () => {
    expect(encode({ content: indented }).format).toBe('passthrough')
  })

  it('follow the request, the model and the section, in this order', () => {
    const model = 'gpt-5'
    const llm = (reading: string) => ({ profiles: { llm: { variants: { [model]: { reading } } } } })
    const section = { reading: { level: 'plain' } }
    expect(formatWith({})).toMatch(/^terminal@1/)
    expect(formatWith(section)).toBe('passthrough')
    expect(formatWith({ ...section, ...llm('dense') }, { model })).toMatch(/^terminal@1/)
    expect(formatWith(llm('dense'), { model, reading: 'plain' })).toBe('passthrough')
  })

  it('take prices of the configuration', () => {
    expect(formatWith({ reading: { prices: { sign: 10_000 } } })).toBe('passthrough')
    for (const price of [-1, 10_001]) {
      expect(pipelineSchema.safeParse({ reading: { prices: { sign: price } } }).success).toBe(false)
    }
    expect(pipelineSchema.safeParse({ reading: { prices: { signs: 1 } } }).success).toBe(false)
  })

  it('refuse formats that are gone, and write those that are named only', () => {
    expect(() => encode({ content: 'a', formats: ['yaml'] })).toThrow(/unknown format/)
    const rows = JSON.stringify(Array.from({ length: 9 }, (_, id) => ({ id, name: 'a b' })))
    expect(encode({ content: rows, formats: ['toon'] }).format).toBe('toon@1')
    expect(encode({ content: rows }).format).not.toBe('toon@1')
  })

  it('never write a list of one as a table without its number of rows', () => {
    const threads = [7, 8].map(id => ({ id, path: `src/cli/${id}.go`, author: 'Ann', count: 1 }))
    const formats = [1, 2].map(rows => encode({ content: JSON.stringify(threads.slice(0, rows)) }))
    expect(formats.map(({ format }) => format)).toEqual(['tree@2', 'tree@2'])
    expect(formats.map(({ content }) => content.split('\n')[0])).toEqual(['[1]:', '[2]:'])
  })
})
