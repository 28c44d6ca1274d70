import { expect, it } from 'vitest'
import { challengeTerms } from '../../../../src/mcp/auth/challenge.ts'

const SERVER = new URL('https://mcp.example/mcp')
const read = (authenticate: string | null) => challengeTerms({ status: 401, authenticate }, SERVER)

it('reads the error, the scopes and the metadata of the own origin', () => {
  const terms = read(
    'Basic realm="a", bearer error="insufficient_scope", scope="a:b c", ' +
      'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource"',
  )
  expect(terms).toMatchObject({ error: 'insufficient_scope', scope: 'a:b c' })
  expect(terms.resourceMetadataUrl?.href).toBe(
    'https://mcp.example/.well-known/oauth-protected-resource',
  )
})

it.each([
  ['another host', 'https://evil.example/x'],
  ['another scheme', 'http://mcp.example/x'],
  ['another port', 'https://mcp.example:444/x'],
  ['a metadata service', 'http://169.254.169.254/latest'],
  ['a file', 'file:///etc/passwd'],
  ['nothing readable', 'https://['],
])('passes over a metadata URL that is %s', (_, url) => {
  expect(read(`Bearer resource_metadata="${url}"`).resourceMetadataUrl).toBeUndefined()
})

it.each([
  ['none', null],
  ['another scheme', 'Basic scope="a"'],
  ['too long', `Bearer scope="a", x="${'y'.repeat(9000)}"`],
  ['scopes with control characters', 'Bearer scope="a\tb\u0001"'],
  ['scopes with a quote', String.raw`Bearer scope="a\"b"`],
])('finds no scopes in a challenge that is or has %s', (_, text) => {
  expect(read(text).scope).toBeUndefined()
})

it('reads the first of two scopes, and takes linear time', () => {
  expect(read('Bearer scope=a, scope=b').scope).toBe('a')
  expect(read(`Bearer ${'x="'.repeat(2700)}`).error).toBeUndefined()
})
