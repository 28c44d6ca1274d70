import { expect, it } from 'vitest'
import type { AppContext } from '../../../../src/http/context.ts'
import { lifeTerms, paysByToken } from '../../../../src/http/proxy/life-terms.ts'

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

it.each([
  ['a gain', { hourKinds: [7], isLoss: false }, { paysByToken: true, hourKinds: [7] }],
  ['a loss', { hourKinds: [7], isLoss: true }, { paysByToken: true }],
  ['not known', undefined, { paysByToken: true }],
])(
  'nothing is bought unless what was bought so far is known as no loss: %s',
  (_, advice, terms) => {
    const headers: Readonly<Record<string, string>> = { 'x-api-key': 'sk-ant-api03-x' }
    const c = {
      get: () => ({ caller: { tenant: 't', keyId: 'k' } }),
      req: { header: (name: string) => headers[name] },
    } as unknown as AppContext
    expect(lifeTerms(c, 'anthropic', { advice: () => advice })).toEqual(terms)
  },
)
