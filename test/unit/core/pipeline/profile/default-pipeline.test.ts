import { expect, it } from 'vitest'
import { DEFAULT_PIPELINE } from '../../../../../src/core/pipeline/profile/default-pipeline.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'

it('the configuration of an empty file is the one without a file', () => {
  expect(pipelineSchema.parse({})).toEqual(DEFAULT_PIPELINE)
  const sections = Object.entries(DEFAULT_PIPELINE).filter(([, each]) => typeof each === 'object')
  const empty = Object.fromEntries(sections.map(([name]) => [name, {}]))
  expect(pipelineSchema.parse(empty)).toEqual(DEFAULT_PIPELINE)
})
