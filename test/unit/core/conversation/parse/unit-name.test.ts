import { expect, test } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { bytesOf } from '../../../../support/runner.ts'

const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }
const ID = '0b5e6f7a-1c2d-4e3f-8a9b-0c1d2e3f4a5b'
const unitOf = (fields: string) =>
  scanRequest(bytesOf(`{"messages":[]${fields}}`), 'anthropic_messages', LIMITS)?.unit

test.each([
  [`,"metadata":{"user_id":"user_0a1b_account_${ID}_session_${ID}"}`, `session ${ID}`],
  [
    `,"metadata":{"user_id":${JSON.stringify(JSON.stringify({ device_id: 'd', session_id: ID }))}}`,
    `session ${ID}`,
  ],
  [',"prompt_cache_key":"run 7"', 'cache run 7'],
  [`,"prompt_cache_key":"k","metadata":{"user_id":"u_session_${ID}"}`, `session ${ID}`],
  [',"metadata":{"user_id":"just a name"}', undefined],
  [',"metadata":{"user_id":"{\\"session_id\\":{}}"}', undefined],
  [',"metadata":{"user_id":"{\\"session_id\\":"}', undefined],
  [',"metadata":{"user_id":{"session_id":"x"}}', undefined],
  [',"metadata":{"user_id":"a_session_a","user_id":"a_session_b"}', undefined],
  [',"metadata":null', undefined],
  [',"prompt_cache_key":""', undefined],
  [`,"prompt_cache_key":"${'k'.repeat(2_000)}"`, undefined],
])('the unit in %s', (fields, unit) => {
  expect(unitOf(fields)).toBe(unit)
})

test('a doubled member is read as no request', () => {
  const doubled = ',"prompt_cache_key":"a","prompt_cache_key":"b"'
  expect(scanRequest(bytesOf(`{"messages":[]${doubled}}`), 'openai_chat', LIMITS)).toBeNull()
})
