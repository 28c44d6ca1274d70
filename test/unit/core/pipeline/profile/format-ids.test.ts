import { expect, it } from 'vitest'
import { JSON_FORMATS } from '../../../../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../../../../src/core/formats/text/registry.ts'
import { FORMAT_IDS } from '../../../../../src/core/pipeline/profile/format-ids.ts'

it('a configuration can name every format that is written', () => {
  expect(FORMAT_IDS).toEqual([...JSON_FORMATS, ...TEXT_FORMATS].map(({ id }) => id))
})
