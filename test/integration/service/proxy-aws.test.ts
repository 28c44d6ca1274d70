import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AwsKey, signatureFault } from '../../support/aws-verifier.ts'
import { startSmallService } from './harness.ts'
import { answerOk, type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

const KEY: AwsKey = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
/** As a client signs that knows nothing of the service: for another host. */
const CLIENT = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=CLIENT/20260131/eu-west-1/bedrock/aws4_request, ' +
    `SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`,
  'x-amz-date': '20260131T000000Z',
  'x-amz-content-sha256': '0'.repeat(64),
  'x-amz-security-token': 'of the client',
}
const rows = JSON.stringify(
  Array.from({ length: 60 }, (_, id) => ({ id, name: `name ${id}`, open: true })),
)
const claude = JSON.stringify({
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'look' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'query', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: rows }] },
  ],
})
const converse = JSON.stringify({
  messages: [
    { role: 'user', content: [{ text: 'look' }] },
    { role: 'assistant', content: [{ toolUse: { toolUseId: 't1', name: 'query', input: {} } }] },
    {
      role: 'user',
      content: [{ toolResult: { toolUseId: 't1', content: [{ text: rows }] } }],
    },
  ],
})

const folder = mkdtempSync(join(tmpdir(), 'haversack-aws-'))
const secretFile = join(folder, 'secret')
let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  writeFileSync(secretFile, `${KEY.secret}\n`)
  upstream = await recordingUpstream()
  const aws = {
    region: 'us-east-1',
    access_key_id: KEY.id,
    secret_access_key: `file:${secretFile}`,
  }
  const at = (name: string, own: object) => {
    return { name, url: upstream.url, dialect: 'bedrock' as const, ...own }
  }
  const upstreams = [
    at('aws', { aws }),
    at('role', { aws: { ...aws, session_token: 'temporary' } }),
    at('none', {}),
  ]
  service = await startSmallService(
    { limits: { max_body_bytes: 2_000_000 }, proxy: { upstreams } },
    { limits: { rewriteBytes: 1_000_000 } },
  )
})

beforeEach(() => upstream.answerWith(answerOk))

afterAll(async () => {
  await service.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

async function post(path: string, body: RequestInit['body'], headers: object = CLIENT) {
  const response = await fetch(`${service.url}/up/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body ?? null,
  })
  await response.text()
  const { line, rawHeaders, body: sent } = upstream.last()
  const [method = '', target = ''] = line.split(' ')
  const fault = (key = KEY) => signatureFault({ method, target, rawHeaders, body: sent }, key)
  return { sent: sent.toString(), rawHeaders, fault }
}

const PROFILE = 'arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Ainference-profile%2Fus.x-v1%3A0'

describe('a signed request for an upstream with credentials', () => {
  it.each([
    ['invoke', 'model/anthropic.claude-x-v1:0/invoke', claude],
    ['invoke, the path encoded', 'model/anthropic.claude-x-v1%3A0/invoke', claude],
    ['a stream', 'model/anthropic.claude-x-v1:0/invoke-with-response-stream', claude],
    ['converse', 'model/amazon.nova-x-v1:0/converse', converse],
    ['converse, a stream', `model/${PROFILE}/converse-stream`, converse],
  ])('is rewritten and signed once more: %s', async (_, path, body) => {
    const { sent, fault, rawHeaders } = await post(`aws/${path}`, body)
    expect(sent.length).toBeLessThan(body.length / 2)
    expect(fault()).toBeNull()
    expect(fault({ ...KEY, secret: 'another' })).toBe('the signature differs')
    expect(rawHeaders.join('\n')).not.toContain('of the client')
    expect(rawHeaders.join('\n')).not.toContain('CLIENT')
  })

  it('has the token of credentials that end', async () => {
    const { fault, rawHeaders } = await post('role/model/amazon.nova-x-v1:0/converse', converse)
    expect(fault()).toBeNull()
    expect(rawHeaders).toContain('temporary')
    expect(rawHeaders.join()).toContain('x-amz-security-token')
  })

  it('is signed if nothing of it is rewritten', async () => {
    for (const [path, body] of [
      ['aws/guardrail/g1/version/1/apply?b=2&a=1%2F%20x', '{"source":"INPUT"}'],
      ['aws/model/amazon.nova-x-v1:0/converse', '{"messages":[]}'],
      ['aws/model/amazon.nova-x-v1:0/count-tokens', '{}'],
    ] as const) {
      const { sent, fault } = await post(path, body)
      expect([sent, fault()]).toEqual([body, null])
    }
    const bypassed = await post('aws/model/amazon.nova-x-v1:0/converse', converse, {
      ...CLIENT,
      'x-haversack-bypass': 'true',
    })
    expect([bypassed.sent, bypassed.fault()]).toEqual([converse, null])
  })

  it('is signed without a body', async () => {
    await fetch(`${service.url}/up/aws/async-invoke?maxResults=2`, { headers: CLIENT })
    const { line, rawHeaders, body } = upstream.last()
    const [method = '', target = ''] = line.split(' ')
    expect(signatureFault({ method, target, rawHeaders, body }, KEY)).toBeNull()
  })

  it('is signed if its body comes in chunks', async () => {
    const body = new ReadableStream({
      start(controller) {
        for (const part of converse.match(/.{1,500}/gs) ?? []) {
          controller.enqueue(new TextEncoder().encode(part))
        }
        controller.close()
      },
    })
    const response = await fetch(`${service.url}/up/aws/model/amazon.nova-x-v1:0/converse`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...CLIENT },
      body,
      duplex: 'half',
    } as RequestInit)
    await response.text()
    const { line, rawHeaders, body: sent } = upstream.last()
    const [method = '', target = ''] = line.split(' ')
    expect(signatureFault({ method, target, rawHeaders, body: sent }, KEY)).toBeNull()
    expect(sent.length).toBeLessThan(converse.length / 2)
  })

  it('is signed with a secret that was replaced meanwhile', async () => {
    writeFileSync(secretFile, 'another secret, of another length')
    const { fault } = await post('aws/model/amazon.nova-x-v1:0/converse', converse)
    writeFileSync(secretFile, `${KEY.secret}\n`)
    expect(fault()).toBe('the signature differs')
    expect(fault({ ...KEY, secret: 'another secret, of another length' })).toBeNull()
  })

  it('passes as it came if it is too large to be held', async () => {
    const large = JSON.stringify({ messages: [], filler: 'x'.repeat(1_100_000) })
    const { sent, rawHeaders } = await post('aws/model/amazon.nova-x-v1:0/converse', large)
    expect(sent).toBe(large)
    expect(rawHeaders).toContain(CLIENT.authorization)
  })
})

describe('credentials of the service', () => {
  it('are not used for a request that came unsigned, or with a token', async () => {
    for (const headers of [{}, { authorization: 'Bearer bedrock-api-key' }]) {
      const { sent, rawHeaders } = await post(
        'aws/model/amazon.nova-x-v1:0/converse',
        converse,
        headers,
      )
      expect(sent.length).toBeLessThan(converse.length / 2)
      expect(rawHeaders.join()).not.toContain('AWS4')
    }
  })

  it('are not used for another upstream, which gets the request as it came', async () => {
    const { sent, rawHeaders } = await post('none/model/amazon.nova-x-v1:0/converse', converse)
    expect(sent).toBe(converse)
    expect(rawHeaders).toContain(CLIENT.authorization)
  })
})
