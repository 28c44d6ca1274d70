import type { IncomingMessage, ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { AppDeps, Health, Rewriting, ServerBindings } from '../../../../src/http/context.ts'
import type { VendorProxy } from '../../../../src/http/proxy/vendor-proxies.ts'
import type { Exchange, ForwardOptions } from '../../../../src/proxy/exchange.ts'
import { testApp } from '../../../support/app.ts'

const ANSWERED: Exchange = {
  outcome: 'answered',
  status: 201,
  sent_bytes: 3,
  received_bytes: 4,
  first_byte_ms: 0,
  total_ms: 0,
  retried: false,
  error: null,
}
const SAID = { tokens: 7 }

/** The app before an upstream that answers at once, and what was asked of it and noted. */
function forwarding({
  exchange = ANSWERED,
  isGiven = true,
  rewriting = undefined as Rewriting | undefined,
  state = 'ready' as Health['state'],
  answerHead = ['content-type', 'x'],
  isBelieved = false,
} = {}) {
  const noted: (readonly unknown[] | string)[] = []
  const options: ForwardOptions[] = []
  const proxy: VendorProxy = {
    vendor: 'openai',
    host: 'api.example',
    prefix: '/openai',
    pattern: '/openai',
    basePath: '/base',
    pathAtVendor: path => path,
    forgets: false,
    upstream: { isOurs: false, isBelieved },
    forwarder: {
      ask: async () => null,
      async forward(_incoming, _outgoing, given) {
        options.push(given)
        given.onAnswer?.head?.(200, answerHead)
        given.onAnswer?.chunk?.(Buffer.from('bytes'))
        return exchange
      },
      async upgrade(_incoming, head, given) {
        const { path, extraHeaders = {}, messages } = given
        noted.push(['upgrade', head.toString(), path, Object.keys(extraHeaders)])
        if (messages !== undefined) noted.push('messages are read')
        return exchange
      },
      drain: () => {},
      close: async () => {},
    },
  }
  const { app, logged } = testApp({
    vendorProxies: [proxy],
    health: { state, store: async () => ({ state: 'ok' }) as never },
    ...(rewriting === undefined ? {} : { rewriting }),
    observeUsage: ((route: string) => {
      noted.push(['observed', route])
      return {
        head: (status: number) => void noted.push(['head', status]),
        chunk: (bytes: Uint8Array) => void noted.push(['chunk', Buffer.from(bytes).toString()]),
        finish: async () => ({ isGiven, said: SAID }),
      }
    }) as unknown as AppDeps['observeUsage'],
    savings: {
      record: async (tenant: string, answered: Promise<unknown>) => {
        noted.push(['saved', tenant === '' ? 'nobody' : 'someone', await answered])
      },
      noteRefused: (refused: unknown) => void noted.push(['refused', refused]),
    } as unknown as AppDeps['savings'],
  })
  async function send(
    method: string,
    path: string,
    bindings: Partial<ServerBindings> = {},
    headers = {},
  ) {
    const incoming = { url: path, headers } as unknown as IncomingMessage
    const outgoing = { shouldKeepAlive: true } as unknown as ServerResponse
    const env = { incoming, outgoing, ...bindings }
    const response = await app.request(path, { method, headers }, env)
    return { response, outgoing }
  }
  return { app, send, noted, options, logged }
}

describe('a request to a vendor', () => {
  test('that is billed is accounted for, by what its answer said', async () => {
    const { send, noted, options } = forwarding()
    await send('POST', '/openai/v1/responses?x=1')
    expect(noted.slice(0, 3)).toEqual([
      ['observed', 'openai_responses'],
      ['head', 200],
      ['chunk', 'bytes'],
    ])
    await expect.poll(() => noted.length).toBe(4)
    expect(noted[3]).toMatchObject(['saved', expect.any(String), { vendor: 'openai', said: SAID }])
    expect(options[0]?.path).toBe('/v1/responses?x=1')
    expect(options[0]?.extraHeaders).toEqual({
      'x-haversack-added-ms': expect.stringMatching(/^\d+(\.\d{3})?$/),
    })
    expect(options[0]?.awaitsContinue).toBe(false)
    expect([options[0]?.body, options[0]?.holdEnd]).toEqual([undefined, undefined])
  })

  test.each([true, false])(
    'is counted by a service behind it if that is believed: %s',
    async isBelieved => {
      const { send, noted } = forwarding({ isBelieved, answerHead: ['X-Haversack-Added-MS', '1'] })
      await send('POST', '/openai/v1/responses')
      await expect.poll(() => noted.length).toBe(4)
      expect(noted[3]).toMatchObject([
        'saved',
        expect.any(String),
        isBelieved ? { isPassedOn: true } : expect.not.objectContaining({ isPassedOn: true }),
      ])
    },
  )

  test('that got no answer of the vendor’s saved nothing', async () => {
    const { send, noted } = forwarding({ isGiven: false })
    await send('POST', '/openai/v1/responses')
    await expect.poll(() => noted.length).toBe(5)
    expect(noted.slice(3)).toEqual([
      ['refused', { host: 'api.example', status: ANSWERED.status, error: null }],
      ['saved', expect.any(String), null],
    ])
  })

  test.each([
    ['GET', '/openai/v1/responses'],
    ['POST', '/openai/v1/responses/input_tokens'],
    ['POST', '/openai/v1/embeddings'],
  ])('%s %s is not billed, and not read', async (method, path) => {
    const { send, noted, options } = forwarding()
    await send(method, path)
    expect(noted).toEqual([])
    expect(options).toHaveLength(1)
  })

  test('that waits for a 100 has it from the upstream', async () => {
    const { send, options } = forwarding()
    await send('POST', '/openai/v1/embeddings', { awaitsContinue: true })
    expect(options[0]?.awaitsContinue).toBe(true)
  })

  test('that failed is logged without its content', async () => {
    const failed = { ...ANSWERED, outcome: 'failed', error: 'ECONNRESET' } as unknown as Exchange
    const { send, logged } = forwarding({ exchange: failed })
    await send('GET', '/openai/v1/models')
    expect(logged.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        message: 'an exchange failed',
        fields: {
          requestId: expect.any(String),
          vendor: 'openai',
          outcome: 'failed',
          error: 'ECONNRESET',
        },
      },
    ])
    const { send: again, logged: none } = forwarding()
    await again('GET', '/openai/v1/models')
    expect(none.filter(({ level }) => level === 'warn')).toEqual([])
  })

  test('that did not come by a port leads nowhere', async () => {
    const { app } = forwarding()
    const response = await app.request('/openai/v1/models', {}, {})
    expect(response.status).toBe(404)
  })
})

describe('a WebSocket', () => {
  const headers = { upgrade: 'websocket', 'openai-beta': 'responses_websockets=1' }
  const rewriting = (isOn: boolean) => ({ isOn: () => isOn }) as unknown as Rewriting
  const upgradeHead = Buffer.from('head')

  test('is upgraded at the upstream', async () => {
    const { send, noted } = forwarding()
    await send('GET', '/openai/v1/responses', { upgradeHead }, headers)
    expect(noted).toEqual([['upgrade', 'head', '/v1/responses', ['x-haversack-added-ms']]])
  })

  test('for a conversation passes if nothing is rewritten', async () => {
    const { send, noted } = forwarding({ rewriting: rewriting(false) })
    await send('GET', '/openai/v1/responses', { upgradeHead }, headers)
    expect(noted).toEqual([['upgrade', 'head', '/v1/responses', ['x-haversack-added-ms']]])
  })

  test('for a conversation has its messages read, if that is rewritten', async () => {
    const { send, noted } = forwarding({ rewriting: rewriting(true) })
    const path = '/openai/v1/responses'
    await send('GET', path, { upgradeHead }, headers)
    await send('GET', path, { upgradeHead }, { upgrade: 'websocket' })
    expect(noted.filter(each => each === 'messages are read')).toHaveLength(2)
    await send('GET', path, { upgradeHead }, { ...headers, 'x-haversack-bypass': 'true' })
    await send('GET', '/openai/v1/realtime', { upgradeHead }, headers)
    expect(noted.filter(([what]) => what === 'upgrade')).toHaveLength(4)
  })

  test('for a conversation is refused while the service drains', async () => {
    const { send, noted } = forwarding({
      rewriting: rewriting(true),
      state: 'draining',
    })
    const path = '/openai/v1/responses'
    const { response } = await send('GET', path, { upgradeHead }, headers)
    expect([response.status, response.headers.get('retry-after'), noted]).toEqual([503, '1', []])
    await send('GET', '/openai/v1/realtime', { upgradeHead }, headers)
    expect(noted).toHaveLength(1)
  })
})
