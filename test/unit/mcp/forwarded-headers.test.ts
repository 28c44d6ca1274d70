import { expect, it } from 'vitest'
import { forwardedHeaders } from '../../../src/mcp/client/forwarded-headers.ts'

const of = (headers: Record<string, string>, names = ['authorization', 'x-api-key']) =>
  forwardedHeaders(names, name => headers[name] ?? null)

it('picks the named headers, and no others', () => {
  const { headers } = of({ authorization: 'Bearer a', 'x-api-key': 'b', cookie: 'c' })
  expect(headers).toEqual({ authorization: 'Bearer a', 'x-api-key': 'b' })
})

it.each([
  ['as a bearer', { authorization: 'Bearer hvs_abc' }],
  ['in other letters', { authorization: 'bearer  HVS_abc' }],
  ['as another header', { 'x-api-key': 'hvs_abc' }],
])('never forwards a key of ours %s', (_, headers) => {
  expect(of(headers as unknown as Record<string, string>).headers).toEqual({})
})

it('never forwards our own header, even if it is named', () => {
  expect(of({ 'x-haversack-key': 'plain' }, ['x-haversack-key']).headers).toEqual({})
})

it('tells credentials apart, whatever the order of the names, and reveals none', () => {
  const one = of({ authorization: 'Bearer planted' })
  expect(of({ authorization: 'Bearer planted' }, ['x-api-key', 'authorization']).identity).toBe(
    one.identity,
  )
  const others = [{ authorization: 'Bearer other' }, { 'x-api-key': 'Bearer planted' }, {}]
  const identities = others.map(headers => of(headers as Record<string, string>).identity)
  expect(new Set([...identities, one.identity]).size).toBe(4)
  expect(one.identity).not.toContain('planted')
})
