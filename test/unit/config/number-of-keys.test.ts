import { expect, it } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { pipelineSchema } from '../../../src/core/pipeline/profile/pipeline-config.ts'
import { leavesOf } from './knobs/leaves.ts'

it('there are few keys: a new one needs a reason, and a number here', () => {
  const keys = [configSchema, pipelineSchema].flatMap(leavesOf)
  const settings = keys.filter(path => !path.split('.').includes('*'))
  expect(keys.length).toBeLessThanOrEqual(160)
  // Outside of tables whose entries a user names, such as servers and tools.
  expect(settings.length).toBeLessThanOrEqual(89)
})
