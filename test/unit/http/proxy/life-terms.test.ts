import { expect, it } from 'vitest'
import { paysByToken } from '../../../../src/http/proxy/life-terms.ts'

it.each([
  ['anthropic', { 'x-api-key': 'sk-ant-api03-x' }, true],
  ['anthropic', { authorization: 'Bearer sk-ant-api03-x' }, true],
  ['anthropic', { 'x-api-key': 'key of a gateway' }, true],
  ['anthropic', {}, false],
  ['anthropic', { 'x-api-key': '', authorization: '' }, false],
  ['anthropic', { authorization: 'Bearer sk-ant-oat01-x' }, false],
  ['anthropic', { authorization: 'bearer  sk-ant-oat01-x' }, false],
  ['anthropic', { 'x-api-key': 'sk-ant-oat01-x' }, false],
  ['anthropic', { 'x-api-key': 'sk-ant-api03-x', authorization: 'Bearer sk-ant-oat01-x' }, false],
  ['anthropic', { 'x-api-key': 'x', 'anthropic-beta': 'a,oauth-2025-04-20' }, false],
  ['openai', { authorization: 'Bearer sk-proj-x' }, true],
  ['openai', { authorization: 'Bearer eyJhbGciOi.x.y' }, false],
] as const)('%s with %j pays by token: %s', (vendor, headers, expected) => {
  const given: Readonly<Record<string, string | undefined>> = headers
  expect(paysByToken(vendor, name => given[name])).toBe(expected)
})
