import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { contentCodingOf, decodeBody } from '../../src/core/base/content-coding.ts'
import { type Events, type ModelRequest, type Speak, toolsOf } from './model.ts'
import type { Step } from './project.ts'
import { speakAnthropic } from './speak-anthropic.ts'
import { speakCompletions } from './speak-completions.ts'
import { speakGemini } from './speak-gemini.ts'
import { speakResponses } from './speak-responses.ts'

/** A conversation of an agent, as it arrived at the vendor. */
export interface ArrivedRequest {
  /** Without its content coding. */
  readonly body: Uint8Array
  readonly isCompressed: boolean
}

/**
 * The APIs of three vendors with a model that follows a script: a step for each result that it has
 * got.
 */
export interface ScriptedVendor {
  readonly url: string
  readonly requests: readonly ArrivedRequest[]
  /** Handshakes for WebSockets, all refused. */
  readonly handshakes: number
  close(): Promise<void>
}

const MAX_BYTES = 1 << 26

export async function startScriptedVendor(script: readonly Step[]): Promise<ScriptedVendor> {
  const requests: ArrivedRequest[] = []
  let handshakes = 0
  const server = createServer(async (incoming, response) => {
    const raw = await buffer(incoming)
    const path = (incoming.url ?? '').split('?', 1)[0]!
    const speak = incoming.method === 'POST' ? SPEAKERS.find(([end]) => path.endsWith(end)) : null
    if (speak == null) return answerJson(response, path.endsWith('/models') ? 200 : 404, NO_MODELS)
    const coding = contentCodingOf(incoming.headers['content-encoding'] ?? '')
    const body = coding === null ? raw : decodeBody(raw, coding, MAX_BYTES)
    if (body === null) return answerJson(response, 400, {})
    const request = JSON.parse(Buffer.from(body).toString()) as ModelRequest
    // Titles and the like are asked for without tools.
    if (toolsOf(request).length > 0) requests.push({ body, isCompressed: coding !== null })
    const answer = speak[1](request, script)
    if (isStream(answer)) answerEvents(response, answer)
    else answerJson(response, 200, answer)
  })
  server.on('upgrade', (_, socket) => {
    handshakes++
    socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    get handshakes() {
      return handshakes
    },
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

/** By the ends of their paths. */
const SPEAKERS: readonly (readonly [string, Speak])[] = [
  ['/v1/messages', speakAnthropic],
  ['/responses', speakResponses],
  ['/chat/completions', speakCompletions],
  [':generateContent', speakGemini],
  [':streamGenerateContent', (request, script) => [speakGemini(request, script)]],
]

const NO_MODELS = { data: [], models: [] }

function isStream(answer: Events | object): answer is Events {
  return Array.isArray(answer)
}

function answerJson(response: ServerResponse, status: number, answer: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer))
}

function answerEvents(response: ServerResponse, events: Events): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const data = typeof event === 'string' ? event : JSON.stringify(event)
    const name = typeof event === 'object' && 'type' in event ? `event: ${event.type}\n` : ''
    response.write(`${name}data: ${data}\n\n`)
  }
  response.end()
}
