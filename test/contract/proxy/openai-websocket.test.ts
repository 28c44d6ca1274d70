import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startSmallService } from '../../integration/service/harness.ts'
import { records } from '../../integration/service/proxy-conversations.ts'
import {
  type ResponsesUpstream,
  responsesUpstream,
} from '../../integration/service/responses-upstream.ts'

let upstream: ResponsesUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  upstream = await responsesUpstream()
  service = await startSmallService({ workers: { count: 1 }, proxy: { openai_url: upstream.url } })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

/** The official SDK in WebSocket mode, behind the proxy. */
function connect(): ResponsesWS {
  const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${service.url}/openai/v1` })
  const socket = new ResponsesWS(client)
  onTestFinished(() => socket.close())
  return socket
}

const output = (text: string) => ({
  type: 'function_call_output' as const,
  call_id: 'call_1',
  output: text,
})

describe('the SDK of OpenAI over a WebSocket', () => {
  it('gets the events of its turns, whose results arrive smaller', async () => {
    const socket = connect()
    const types: string[] = []
    let turns = 0
    const turn = (previous: string | null) => {
      turns += 1
      socket.send({
        type: 'response.create',
        model: 'gpt-5',
        store: false,
        ...(previous === null ? {} : { previous_response_id: previous }),
        input: [output(records(turns))],
      })
    }
    const over = Promise.withResolvers<void>()
    socket.on('error', over.reject)
    socket.on('event', event => {
      types.push(event.type)
      if (event.type !== 'response.completed') return
      if (turns === 3) over.resolve()
      else turn(event.response.id)
    })
    turn(null)
    await over.promise
    const { came, handshake } = upstream.sockets.at(-1)!
    expect(handshake.headers.authorization).toBe('Bearer sk-test')
    expect(types).toHaveLength(9)
    for (const [n, { bytes }] of came.entries()) {
      const { type, store, input } = JSON.parse(bytes.toString())
      expect([type, store]).toEqual(['response.create', false])
      expect(input[0].output.length).toBeLessThan(records(n + 1).length)
    }
  })

  it('is told why its handshake is refused', async () => {
    const body = '{"error":{"message":"no such key","code":"invalid_api_key"}}'
    upstream.shakeWith(`HTTP/1.1 401 Unauthorized\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    const socket = connect()
    const failed = Promise.withResolvers<Error>()
    socket.on('error', failed.resolve)
    expect((await failed.promise).message).toContain('401')
  })
})
