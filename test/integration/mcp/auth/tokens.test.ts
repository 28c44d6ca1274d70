import { generateKeyPairSync } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import type { AuthorizerOptions } from '../../../../src/mcp/auth/authorizer.ts'
import { eventually } from '../../../support/eventually.ts'
import { callOf, connectTo, textOfEnd, toolCall } from '../../../support/mcp/connect.ts'
import { oauthScene, TERMS } from '../../../support/mcp/oauth.ts'

/** A connection to the server of a scene, and the clock of its authorizer. */
async function connect(
  scene: Awaited<ReturnType<typeof oauthScene>>,
  options: Partial<AuthorizerOptions> = {},
) {
  const clock = { now: Date.now() }
  const logged: string[] = []
  const log = (event: string, fields: object) => logged.push(`${event} ${JSON.stringify(fields)}`)
  const authorizer = scene.authorizer({ now: () => clock.now, log, ...options })
  const { connection, events } = connectTo(scene.target(authorizer), { log })
  onTestFinished(() => connection.close())
  await connection.facts()
  const call = () => connection.call(toolCall('a'))
  return { authorizer, connection, events, call, clock, logged }
}

const DONE = '{"content":[{"type":"text","text":"done"}]}'

it('says what to do without a token, and goes on by itself after a login elsewhere', async () => {
  const scene = await oauthScene()
  const { call, events } = await connect(scene)
  expect(await call()).toEqual({
    ...{ kind: 'unauthorized', authenticate: 'Bearer realm="test"', advice: 'Log in.' },
  })
  await scene.login()
  await eventually(() => expect(events).toContain('connected modern'))
  expect(textOfEnd(await call())).toBe(DONE)
})

it('renews a token shortly before it expires, once for many calls', async () => {
  const scene = await oauthScene()
  await scene.login()
  const { call, clock } = await connect(scene)
  clock.now += 3600_000 - 29_000
  const ends = await Promise.all(Array.from({ length: 10 }, call))
  expect(ends.map(textOfEnd)).toEqual(Array(10).fill(DONE))
  const [, ...renewals] = scene.authority.tokenRequests
  expect(renewals.map(({ params }) => params.get('grant_type'))).toEqual(['refresh_token'])
  expect(renewals[0]?.params.get('resource')).toBe(scene.server.url)
  expect(scene.authority.reused).toEqual([])
})

it('renews a token that the server refuses, and sends the call once more', async () => {
  const scene = await oauthScene()
  scene.authority.expiresIn = undefined
  await scene.login()
  const { call, clock } = await connect(scene)
  clock.now += 60_000
  scene.authority.valid.clear()
  expect(textOfEnd(await call())).toBe(DONE)
  expect(scene.authority.tokenRequests).toHaveLength(2)
})

it('does not renew for ever if the server refuses every token', async () => {
  const scene = await oauthScene()
  await scene.login()
  const { call, clock } = await connect(scene)
  clock.now += 60_000
  scene.authority.misdeeds.tokens = { access_token: 'never-good' }
  scene.authority.valid.clear()
  for (let i = 0; i < 5; i++) expect(await call()).toMatchObject({ kind: 'unauthorized' })
  expect(scene.authority.tokenRequests).toHaveLength(2)
})

it('forgets a refresh token that is refused, and keeps one that was not answered', async () => {
  const scene = await oauthScene()
  await scene.login()
  const { authorizer, clock } = await connect(scene)
  clock.now += 3600_000
  scene.authority.misdeeds.tokenAnswer = { status: 503, body: 'planted-body' }
  expect(await authorizer.headers()).toEqual({})
  expect(scene.grants().grant()?.tokens.refresh_token).toBeDefined()
  scene.authority.misdeeds.tokenAnswer = { status: 400, body: '{"error":"invalid_grant"}' }
  expect(await authorizer.headers()).toEqual({})
  expect(scene.grants().grant()?.tokens.refresh_token).toBeUndefined()
  const asked = scene.authority.tokenRequests.length
  expect(await authorizer.headers()).toEqual({})
  expect(scene.authority.tokenRequests).toHaveLength(asked)
})

it('connects again after a login that followed a refusal, and to no end if there is none', async () => {
  const scene = await oauthScene()
  scene.server.says.challenge = ', scope="read"'
  await scene.login()
  const [one, two] = [await connect(scene), await connect(scene)]
  one.clock.now += 60_000
  two.clock.now += 60_000
  scene.authority.valid.clear()
  scene.authority.misdeeds.tokenAnswer = { status: 400, body: '{"error":"invalid_grant"}' }
  expect(await one.call()).toMatchObject({ kind: 'unauthorized' })
  expect(await two.call()).toMatchObject({ kind: 'unauthorized' })
  scene.authority.misdeeds.tokenAnswer = undefined
  await scene.login()
  const again = ['connected modern', 'lost', 'connected modern']
  await eventually(() => expect([one.events, two.events]).toEqual([again, again]))
  expect(textOfEnd(await one.call())).toBe(DONE)
})

it('does not show a refresh token to the authorization server that a server moved to', async () => {
  const [scene, other] = [await oauthScene(), await oauthScene()]
  await scene.login()
  const { call, clock } = await connect(scene)
  clock.now += 60_000
  scene.authority.valid.clear()
  scene.server.says.authorizationServers = [other.authority.issuer]
  expect(await call()).toMatchObject({ kind: 'unauthorized' })
  expect(other.authority.tokenRequests).toEqual([])
  expect(scene.authority.tokenRequests).toHaveLength(1)
})

it('asks for the scopes that a call needs at the next login, beside those it has', async () => {
  const scene = await oauthScene()
  scene.server.says.challenge = ', scope="read"'
  await scene.login()
  scene.server.says.callScope = 'write'
  const { call } = await connect(scene)
  expect(await call()).toMatchObject({ kind: 'unauthorized', advice: 'Log in.' })
  await scene.login()
  expect(scene.authority.authorizations[1]?.get('scope')).toBe('read write')
  expect(textOfEnd(await call())).toBe(DONE)
})

it('uses one token for processes on one folder, whichever renews it', async () => {
  const scene = await oauthScene()
  await scene.login()
  const gate = Promise.withResolvers<void>()
  scene.authority.misdeeds.tokenWaits = gate.promise
  const later = { now: () => Date.now() + 3600_000 - 1000 }
  const [one, two] = [scene.authorizer(later), scene.authorizer(later)]
  const both = Promise.all([one.headers(), two.headers()])
  await eventually(() => expect(scene.authority.tokenRequests).toHaveLength(2))
  gate.resolve()
  const [first, second] = await both
  expect(first).toEqual(second)
  expect(scene.authority.tokenRequests).toHaveLength(2)
  expect(scene.authority.reused).toEqual([])
})

it('needs no user for client credentials, and widens their scopes itself', async () => {
  const scene = await oauthScene()
  scene.server.says.callScope = 'write'
  const terms = { ...TERMS, grant: 'client_credentials', scope: 'read' } as const
  const secret = () => 'planted-secret'
  const { call } = await connect(scene, {
    terms: { ...terms, clientId: 'a', clientSecret: secret },
  })
  expect(textOfEnd(await call())).toBe(DONE)
  const asked = scene.authority.tokenRequests.map(({ params }) => params.get('scope'))
  expect(asked).toEqual(['read', 'read write'])
  expect(scene.authority.registrations).toEqual([])
})

it('signs an assertion with a key in place of a secret', async () => {
  const scene = await oauthScene()
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  const terms = { ...TERMS, grant: 'client_credentials', clientId: 'a' } as const
  const { call } = await connect(scene, { terms: { ...terms, clientKey: () => pem } })
  expect(textOfEnd(await call())).toBe(DONE)
  const assertion = scene.authority.tokenRequests[0]?.params.get('client_assertion') ?? ''
  const claims = JSON.parse(Buffer.from(assertion.split('.')[1] ?? '', 'base64url').toString())
  expect(claims).toMatchObject({ iss: 'a', sub: 'a', aud: scene.authority.issuer })
})

it('writes no secret to a log, an error or an answer', async () => {
  const scene = await oauthScene()
  await scene.login({ clientId: 'known', clientSecret: () => 'planted-secret' })
  const { call, clock, logged, connection, events } = await connect(scene, {
    terms: { ...TERMS, clientId: 'known', clientSecret: () => 'planted-secret' },
  })
  // What the server says repeats what it was sent.
  const token = scene.grants().grant()?.tokens.access_token
  scene.server.says.challenge = `, error="${token}", scope="${token}"`
  clock.now += 60_000
  scene.authority.valid.clear()
  scene.authority.misdeeds.tokenAnswer = { status: 400, body: `{"error":"${token}"}` }
  const end = await call()
  expect(end).toMatchObject({ kind: 'unauthorized' })
  await connection.call(callOf('tools/list', null))
  expect(logged.join()).toContain('token not renewed')
  expect(`${logged} ${events} ${connection.lastErrors()}`).not.toContain('planted')
})
