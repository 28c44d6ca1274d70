import { describe, expect, onTestFinished, test } from 'vitest'
import type { Config } from '../../../../src/config/config.ts'
import { FIXED_LIMITS } from '../../../../src/config/fixed-limits.ts'
import { type VendorName, vendorNamed } from '../../../../src/core/dialects/lookup.ts'
import {
  createVendorProxies,
  proxyEnvironment,
  vendorProxyFor,
} from '../../../../src/http/proxy/vendor-proxies.ts'
import { vendorResponse } from '../../../../src/http/response/problems.ts'

const SETTINGS = {
  openai_paths: 'versioned',
  upstreams: [],
} as unknown as Config['proxy']

function proxiesOf(settings: object, below?: string) {
  const limits = FIXED_LIMITS.forward
  const all = createVendorProxies(
    { ...SETTINGS, ...settings },
    { below, limits, env: {}, secret: text => () => text, onBug: () => {} },
  )
  onTestFinished(
    async () => void (await Promise.all(all.map(({ forwarder }) => forwarder.close()))),
  )
  return all
}

/** The names of errors by HTTP status, as the vendors document them. */
const DOCUMENTED_ERRORS = Object.entries({
  anthropic: `400 invalid_request_error 401 authentication_error 403 permission_error
    404 not_found_error 408 timeout_error 413 request_too_large 429 rate_limit_error
    500 api_error 503 overloaded_error 504 timeout_error 529 overloaded_error`,
  openai: `400 invalid_request_error 401 authentication_error 403 permission_error
    429 rate_limit_error 500 server_error`,
  google: `400 INVALID_ARGUMENT 401 UNAUTHENTICATED 403 PERMISSION_DENIED 404 NOT_FOUND
    408 DEADLINE_EXCEEDED 429 RESOURCE_EXHAUSTED 500 INTERNAL 503 UNAVAILABLE
    504 DEADLINE_EXCEEDED`,
  amazon: `400 ValidationException 401 AccessDeniedException 403 AccessDeniedException
    404 ResourceNotFoundException 408 ModelTimeoutException 429 ThrottlingException
    500 InternalServerException 503 ServiceUnavailableException 504 ModelTimeoutException`,
})

const errorOf = (name: string, code: number): Readonly<Record<string, object>> => ({
  anthropic: { type: 'error', error: { type: name, message: 'm' } },
  openai: { error: { type: name, message: 'm', param: null, code: 'c' } },
  google: { error: { code, message: 'm', status: name } },
  amazon: { __type: name, message: 'm' },
})

const BOTH = { anthropic_url: 'https://a.test/base/', openai_url: 'https://o.test' }

test('the proxy before upstreams comes from the environment, in capitals first', () => {
  const env = { https_proxy: 'low', HTTPS_PROXY: 'high', no_proxy: 'a.test' }
  expect(proxyEnvironment(env)).toEqual({ HTTPS_PROXY: 'high', NO_PROXY: 'a.test' })
  expect(proxyEnvironment({ https_proxy: 'low', HTTPS_PROXY: '' })).toEqual({ HTTPS_PROXY: 'low' })
  expect(proxyEnvironment({})).toEqual({})
})

describe('vendors', () => {
  test('are no services of ours at https, whatever they say', () => {
    const proxies = proxiesOf({ ...BOTH, openai_url: 'http://haversack.internal:8787/openai' })
    expect(proxies.map(({ upstream }) => upstream.isBelieved)).toEqual([false, true])
  })

  test('have a proxy each, if they are configured', () => {
    expect(proxiesOf({})).toEqual([])
    const about = ({ vendor, prefix, pattern, basePath }: ReturnType<typeof proxiesOf>[0]) => {
      return { vendor, prefix, pattern, basePath }
    }
    expect(proxiesOf(BOTH).map(about)).toEqual([
      { vendor: 'anthropic', prefix: '/anthropic', pattern: '/anthropic', basePath: '/base' },
      { vendor: 'openai', prefix: '/openai', pattern: '/openai', basePath: '' },
    ])
    expect(proxiesOf({ openai_url: BOTH.openai_url }).map(({ vendor }) => vendor)).toEqual([
      'openai',
    ])
  })

  test('drop parts of prompts by themselves if they say so, or are known to', () => {
    const local = (name: string, forgets?: boolean) => ({
      name,
      url: 'http://127.0.0.1:11434/v1',
      dialect: 'openai',
      ...(forgets === undefined ? {} : { forgets }),
    })
    const upstreams = [
      local('a'),
      local('b', false),
      { ...local('c', true), url: 'https://c.test' },
    ]
    const all = proxiesOf({ ...BOTH, upstreams })
    expect(all.map(({ forgets }) => forgets)).toEqual([false, false, true, false, true])
  })

  test('have names, if they are others', () => {
    const upstreams = [
      { name: 'az', url: 'https://z.test', dialect: 'azure' },
      { name: 'g', url: 'https://g.test/base/', dialect: 'gemini' },
      { name: 'claude', url: 'https://c.test', dialect: 'anthropic' },
      { name: 'aws', url: 'https://b.test', dialect: 'bedrock' },
    ]
    const all = proxiesOf({ ...BOTH, upstreams })
    expect(all.map(({ vendor, prefix }) => `${vendor} ${prefix}`)).toEqual([
      'anthropic /anthropic',
      'openai /openai',
      'openai /up/az',
      'google /up/g',
      'anthropic /up/claude',
      'amazon /up/aws',
    ])
    const path = (target: string) => vendorProxyFor(all, target)?.path
    expect(path('/up/az/chat/completions')).toBe('/chat/completions')
    expect(path('/up/claude/messages')).toBe('/v1/messages')
    expect(path('/up/g/v1beta/models/g:generateContent')).toBe('/v1beta/models/g:generateContent')
    expect(path('/up/gx/v1beta')).toBeUndefined()
    expect(proxiesOf({ upstreams }, '/s3cret')[1]).toMatchObject({
      prefix: '/s3cret/up/g',
      pattern: '/:secret/up/g',
      basePath: '/base',
    })
  })

  test('may be below a secret, which no pattern tells', () => {
    const [proxy] = proxiesOf({ openai_url: BOTH.openai_url }, '/s3cret')
    expect(proxy).toMatchObject({ prefix: '/s3cret/openai', pattern: '/:secret/openai' })
  })

  test('are found by the target, with the path as the vendor names it', () => {
    const all = proxiesOf(BOTH)
    const found = (target: string | undefined) => {
      const { proxy, path } = vendorProxyFor(all, target) ?? {}
      return proxy === undefined ? null : `${proxy.vendor} ${path}`
    }
    expect(found('/anthropic/messages?x=1')).toBe('anthropic /v1/messages?x=1')
    expect(found('/openai/responses')).toBe('openai /v1/responses')
    expect(found('/openai')).toBe('openai /')
    for (const target of [undefined, '', '/', '/openaix/y', '/v1/openai/y', 'http://h/openai']) {
      expect(found(target)).toBeNull()
    }
  })

  test('of OpenAI’s kind get paths as they are sent, if that is configured', () => {
    const openai = { openai_url: BOTH.openai_url, openai_paths: 'as_sent' }
    const path = (settings: object) =>
      vendorProxyFor(proxiesOf(settings), '/openai/responses')?.path
    expect(path(openai)).toBe('/responses')
    expect(path({ openai_url: 'https://o.test/backend-api/codex' })).toBe('/responses')
  })
})

describe('a problem of ours', () => {
  test('is written as its vendor does, with our headers', async () => {
    const problem = { code: 'overloaded', detail: 'no room', retry_after_s: 30 } as const
    const response = vendorResponse('anthropic', problem, { 'x-request-id': 'r' })
    expect(response.status).toBe(503)
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'application/json',
      'retry-after': '30',
      'x-request-id': 'r',
    })
    expect(await response.json()).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'Haversack: no room' },
    })
  })

  test.each(DOCUMENTED_ERRORS)('is written as %s does, whatever failed', (vendor, errors) => {
    for (const [, digits, name] of errors.matchAll(/(\d+) (\w+)/g)) {
      const status = Number(digits)
      const written = vendorNamed(vendor as VendorName).errorBody({
        status,
        code: 'c',
        message: 'm',
      })
      expect(written, digits).toEqual(errorOf(name!, status)[vendor])
    }
  })
})
