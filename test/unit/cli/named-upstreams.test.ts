import { describe, expect, it } from 'vitest'
import {
  type NamedUpstream,
  namedBaseUrls,
  namedUpstreams,
} from '../../../src/cli/run/own-service.ts'

const GEMINI = 'https://generativelanguage.googleapis.com'
const urlsOf = (env: Record<string, string>, configured: readonly NamedUpstream[] = []) =>
  Object.fromEntries(namedUpstreams(env, configured).map(({ name, url }) => [name, url]))

describe('the upstreams of a command', () => {
  it('are those that its agent would have used', () => {
    expect(urlsOf({})).toEqual({ gemini: GEMINI })
    const bedrock = { CLAUDE_CODE_USE_BEDROCK: '1', AWS_REGION: 'eu-west-1' }
    expect(urlsOf(bedrock)).toEqual({ gemini: GEMINI })
    expect(urlsOf({ ...bedrock, AWS_BEARER_TOKEN_BEDROCK: 'x' })['bedrock']).toBe(
      'https://bedrock-runtime.eu-west-1.amazonaws.com',
    )
    const key = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret' }
    const signed = namedUpstreams({ ...bedrock, ...key, AWS_SESSION_TOKEN: 't' }, [])
    expect(signed.find(({ name }) => name === 'bedrock')).toMatchObject({
      url: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
      aws: {
        region: 'eu-west-1',
        access_key_id: 'env:AWS_ACCESS_KEY_ID',
        secret_access_key: 'env:AWS_SECRET_ACCESS_KEY',
        session_token: 'env:AWS_SESSION_TOKEN',
      },
    })
    expect(JSON.stringify(signed)).not.toContain('"secret"')
    expect(urlsOf({ CLAUDE_CODE_USE_VERTEX: '1' })['vertex']).toBe(
      'https://aiplatform.googleapis.com/v1',
    )
    const region = { CLAUDE_CODE_USE_VERTEX: '1', CLOUD_ML_REGION: 'us-east5' }
    expect(urlsOf(region)['vertex']).toBe('https://us-east5-aiplatform.googleapis.com/v1')
  })

  it('are named by the environment, then by the configuration', () => {
    const mine: NamedUpstream = { name: 'gemini', url: 'https://mine', dialect: 'gemini' }
    const other: NamedUpstream = { name: 'x', url: 'https://x', dialect: 'openai' }
    expect(urlsOf({}, [mine, other])).toEqual({ gemini: 'https://mine', x: 'https://x' })
    const env = { GOOGLE_GEMINI_BASE_URL: 'https://gateway/g/' }
    expect(urlsOf(env, [mine, other])).toEqual({ gemini: 'https://gateway/g', x: 'https://x' })
    expect(() => namedUpstreams({ GOOGLE_GEMINI_BASE_URL: 'gateway' }, [])).toThrow(
      'GOOGLE_GEMINI_BASE_URL has no scheme',
    )
  })

  it('give the command their base URLs', () => {
    const env = { CLAUDE_CODE_USE_VERTEX: '1' }
    expect(namedBaseUrls('http://127.0.0.1:1/s', namedUpstreams(env, []))).toEqual({
      GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1/s/up/gemini',
      ANTHROPIC_VERTEX_BASE_URL: 'http://127.0.0.1:1/s/up/vertex',
    })
  })
})

it.each([
  ['https://me:s3cret@gateway', 'must have no credentials'],
  ['https://gateway?key=s3cret', 'must have no credentials, query'],
  ['gateway.example', 'has no scheme'],
])('are not at %s, of which a part would be lost', (url, fault) => {
  const named = () => namedUpstreams({ GOOGLE_GEMINI_BASE_URL: url }, [])
  expect(named).toThrow(`GOOGLE_GEMINI_BASE_URL ${fault}`)
  expect(named).not.toThrow('s3cret')
})
