import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Misdeeds } from '../../../support/mcp/authorization-server.ts'
import { agree, oauthScene } from '../../../support/mcp/oauth.ts'

it('gets a token for the server itself, with PKCE, as a client that it registers', async () => {
  const { login, authority, server, grants } = await oauthScene()
  server.says.challenge = ', scope="read"'
  expect(await login()).toEqual({ issuer: authority.issuer, scope: 'read' })
  const [asked] = authority.authorizations
  const [{ params }] = authority.tokenRequests as [(typeof authority.tokenRequests)[number]]
  expect(Object.fromEntries(asked!)).toMatchObject({
    response_type: 'code',
    client_id: 'client-1',
    code_challenge_method: 'S256',
    resource: server.url,
    scope: 'read',
  })
  const verifier = params.get('code_verifier') as string
  expect(createHash('sha256').update(verifier).digest('base64url')).toBe(
    asked?.get('code_challenge'),
  )
  expect(params.get('resource')).toBe(server.url)
  expect(authority.registrations[0]?.['redirect_uris']).toEqual([asked?.get('redirect_uri')])
  expect(asked?.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/)
  expect(authority.valid.has(grants().grant()?.tokens.access_token as string)).toBe(true)
  // Another tenant has none.
  expect(grants('other').grant()).toBeNull()
})

it('registers once, and comes back to the same port', async () => {
  const { login, authority } = await oauthScene()
  await login()
  await login()
  expect(authority.registrations).toHaveLength(1)
  const uris = authority.authorizations.map(asked => asked.get('redirect_uri'))
  expect(uris[0]).toBe(uris[1])
})

it('is the client of a document, if the authorization server takes those', async () => {
  const { login, authority } = await oauthScene()
  authority.misdeeds.metadata = { client_id_metadata_document_supported: true }
  const clientMetadataUrl = 'https://haversack.example/client.json'
  await login({ clientMetadataUrl })
  expect(authority.authorizations[0]?.get('client_id')).toBe(clientMetadataUrl)
  expect(authority.registrations).toEqual([])
})

it('is the configured client, whose secret is not kept', async () => {
  const { login, authority, grants } = await oauthScene()
  await login({ clientId: 'known', clientSecret: () => 'planted-secret' })
  expect(authority.registrations).toEqual([])
  const basic = Buffer.from('known:planted-secret').toString('base64')
  expect(authority.tokenRequests[0]?.authorization).toBe(`Basic ${basic}`)
  expect(JSON.stringify(grants().grant())).not.toContain('planted-secret')
})

const HOSTILE: readonly [string, Misdeeds, string][] = [
  ['another issuer in its return', { iss: 'http://evil.example' }, 'not the one that it should be'],
  ['no issuer in its return', { iss: null }, 'not the one that it should be'],
  [
    'another issuer in its metadata',
    { metadata: { issuer: 'http://evil.example' } },
    'not the one',
  ],
  [
    'no PKCE',
    { metadata: { code_challenge_methods_supported: ['plain'] } },
    'lacks what is needed',
  ],
  [
    'no word about PKCE',
    { metadata: { code_challenge_methods_supported: undefined } },
    'lacks what is needed',
  ],
  ['no registration', { metadata: { registration_endpoint: undefined } }, 'lacks what is needed'],
  [
    'garbage for tokens',
    { tokenAnswer: { status: 200, body: 'planted-secret{' } },
    'something else',
  ],
  ['tokens without a token', { tokenAnswer: { status: 200, body: '{}' } }, 'something else'],
  [
    'an error with a text',
    { tokenAnswer: { status: 500, body: 'planted-secret' } },
    'server_error',
  ],
  ['tokens of another type', { tokens: { token_type: 'DPoP' } }, 'not of type Bearer'],
  ['a token with a line break', { tokens: { access_token: 'a\r\nx: y' } }, 'no text of a header'],
  ['a refusal', { returns: { error: 'access_denied', error_description: 'x' } }, 'access_denied'],
  [
    'a refusal of another issuer',
    { returns: { error: 'access_denied' }, iss: 'http://evil.example' },
    'not the one that it should be',
  ],
  [
    'a page that is no page',
    { metadata: { authorization_endpoint: 'file:///etc/passwd' } },
    'no page to visit',
  ],
  [
    'a token endpoint at a metadata service',
    { metadata: { token_endpoint: 'https://169.254.169.254/token' } },
    'must not name',
  ],
  [
    'metadata that moved to a metadata service',
    { metadataMovedTo: 'http://169.254.169.254/latest' },
    'no metadata',
  ],
]

it.each(HOSTILE)('keeps no token of an authorization server with %s', async (_, misdeeds, why) => {
  const { login, authority, grants } = await oauthScene()
  Object.assign(authority.misdeeds, misdeeds)
  const failure = await login().catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'AuthFailure' })
  expect(String(failure)).toContain(why)
  expect(String(failure)).not.toContain('planted')
  expect(grants().grant()).toBeNull()
})

it('refuses metadata of another resource', async () => {
  const { login, authority, server } = await oauthScene()
  server.says.resource = 'https://other.example/mcp'
  await expect(login()).rejects.toThrow('for another resource')
  expect(authority.authorizations).toEqual([])
})

it('does not fetch metadata from another origin', async () => {
  const [scene, other] = [await oauthScene(), await oauthScene()]
  scene.server.says.challenge = `, resource_metadata="${other.server.url}"`
  await scene.login()
  expect(other.server.arrived).toEqual([])
})

it('sends a secret to the configured issuer, or the first one, and to no other', async () => {
  const [{ login, server, authority }, other] = [await oauthScene(), await oauthScene()]
  const client = { clientId: 'known', clientSecret: () => 'planted-secret' }
  await expect(login({ ...client, issuer: 'https://issuer.example' })).rejects.toThrow('configured')
  await login(client)
  server.says.authorizationServers = [other.authority.issuer]
  await expect(login(client)).rejects.toThrow('used at before')
  expect(other.authority.tokenRequests).toEqual([])
  expect(other.authority.authorizations).toEqual([])
  expect(authority.tokenRequests).toHaveLength(1)
})

it('registers again at the authorization server that a server moved to', async () => {
  const [{ login, server, grants }, other] = [await oauthScene(), await oauthScene()]
  await login()
  server.says.authorizationServers = [other.authority.issuer]
  await login()
  expect(other.authority.registrations).toHaveLength(1)
  expect(grants().grant()?.issuer).toBe(other.authority.issuer)
})

it('takes the URL that a browser elsewhere ended at', async () => {
  const { login, grants } = await oauthScene()
  await login(undefined, {
    visit: (page, { take }) => {
      void fetch(page, { redirect: 'manual' }).then(answer => {
        take(answer.headers.get('location') as string)
      })
    },
  })
  expect(grants().grant()).not.toBeNull()
})

it('ends if nobody comes back, and forgets what it has on request', async () => {
  const { login, grants } = await oauthScene()
  await expect(login({}, { timeoutMs: 1, visit: () => {} })).rejects.toThrow('in time')
  await login({}, { visit: page => void agree(page) })
  expect(grants().forget(undefined)).toBe(true)
  expect(grants().grant()).toBeNull()
  expect(grants().forget(undefined)).toBe(false)
})
