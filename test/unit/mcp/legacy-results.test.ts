import { expect, it } from 'vitest'
import { describesOtherValues, legacyEnd } from '../../../src/mcp/results/legacy-results.ts'
import type { CallEnd } from '../../../src/mcp/upstream/connection.ts'

const end = (json: string): CallEnd => ({
  kind: 'answered',
  outcome: { kind: 'result', result: Buffer.from(json) },
})

it.each([
  [
    '{"content":[],"structuredContent":[1.0]}',
    '{"content":[],"structuredContent":{"result":[1.0]}}',
  ],
  ['{"structuredContent":null}', '{"structuredContent":{"result":null}}'],
  ['{"structuredContent":{"a":1.0}}', '{"structuredContent":{"a":1.0}}'],
  ['{"content":[]}', '{"content":[]}'],
])('gives an earlier client an object: %s', (result, expected) => {
  expect(legacyEnd(end(result))).toEqual(end(expected))
})

it.each([
  ['{"outputSchema":{"type":"object"}}', false],
  ['{"name":"t"}', false],
  ['{"outputSchema":{"type":"array"}}', true],
  ['{"outputSchema":{}}', true],
])('lists schemas of objects only: %s', (definition, isOther) => {
  expect(describesOtherValues(Buffer.from(definition))).toBe(isOther)
})
