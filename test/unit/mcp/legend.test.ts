import { expect, it } from 'vitest'
import { legendOf } from '../../../src/config/pipeline.ts'
import { pipelineSchema } from '../../../src/core/pipeline/profile/pipeline-config.ts'
import { LEGEND } from '../../../src/core/reading/legend.ts'
import { connectMemory, MemoryServer } from '../../support/mcp/memory-gateway.ts'

const stating = (name: string, instructions: string | null) =>
  Object.assign(new MemoryServer(name, []), { instructions })

it.each([
  ['no server states anything', [stating('a', null)], LEGEND],
  ['the only server states something', [stating('a', 'Ask first.')], `Ask first.\n\n${LEGEND}`],
  [
    'several do',
    [stating('a', 'Ask first.'), stating('b', 'Ask last.')],
    `# a\nAsk first.\n\n# b\nAsk last.\n\n${LEGEND}`,
  ],
])('the instructions of a gateway end with the legend if %s', async (_, servers, text) => {
  const { gateway } = await connectMemory(servers, { legend: LEGEND })
  expect(gateway.instructions()).toBe(text)
})

it('a gateway without a legend says what its servers state', async () => {
  const { gateway } = await connectMemory([stating('a', 'Ask first.')])
  expect(gateway.instructions()).toBe('Ask first.')
  expect((await connectMemory([stating('a', null)])).gateway.instructions()).toBeNull()
})

it('a configuration without hints has none', () => {
  expect(legendOf(pipelineSchema.parse({}))).toBe(LEGEND)
  expect(legendOf(pipelineSchema.parse({ hints: { enabled: false } }))).toBeUndefined()
})
