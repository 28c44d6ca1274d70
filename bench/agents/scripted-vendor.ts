import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { contentCodingOf, decodeBody } from '../../src/core/base/content-coding.ts'
import type { Step } from './project.ts'

/** A conversation of an agent, as it arrived at the vendor. */
export interface ArrivedRequest {
  /** Without its content coding. */
  readonly body: Uint8Array
  readonly isCompressed: boolean
}

/**
 * The APIs of two vendors with a model that follows a script: a step for each result that it has
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
const LAST_WORDS = 'That is all.'

export async function startScriptedVendor(script: readonly Step[]): Promise<ScriptedVendor> {
  const requests: ArrivedRequest[] = []
  let handshakes = 0
  const server = createServer(async (incoming, response) => {
    const raw = await buffer(incoming)
    const path = (incoming.url ?? '').split('?', 1)[0]!
    const speak = incoming.method === 'POST' ? SPEAKERS.find(([end]) => path.endsWith(end)) : null
    if (speak == null) return answerJson(response, path.endsWith('/models') ? 200 : 404)
    const coding = contentCodingOf(incoming.headers['content-encoding'] ?? '')
    const body = coding === null ? raw : decodeBody(raw, coding, MAX_BYTES)
    if (body === null) return answerJson(response, 400)
    const request = JSON.parse(Buffer.from(body).toString()) as Request
    // Titles and the like are asked for without tools.
    if (toolsOf(request).length > 0) requests.push({ body, isCompressed: coding !== null })
    answerEvents(response, speak[1](request, script))
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

interface Tool {
  readonly name?: string
  /** Of a namespace. */
  readonly tools?: readonly Tool[]
}

interface Request {
  readonly model?: string
  readonly tools?: readonly Tool[]
  readonly messages?: readonly object[]
  readonly input?: readonly { readonly tools?: readonly Tool[] }[]
}

/** Names of all tools, also of those that come with the conversation. */
function toolsOf({ tools = [], input = [] }: Request): readonly string[] {
  const all = [...tools, ...input.flatMap(item => item.tools ?? [])]
  return all.flatMap(({ name = '', tools: inner }) => inner?.map(each => each.name ?? '') ?? [name])
}

type Events = readonly { readonly type: string }[]

const SPEAKERS: readonly (readonly [
  string,
  (request: Request, script: readonly Step[]) => Events,
])[] = [
  ['/v1/messages', speakAnthropic],
  ['/responses', speakResponses],
]

function answerJson(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end('{"data":[],"models":[]}')
}

function answerEvents(response: ServerResponse, events: Events): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events)
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}

/** How many results there are: blocks or items of this type. */
function resultsIn(list: readonly object[] | undefined, type: RegExp): number {
  const texts = JSON.stringify(list ?? []).matchAll(/"type":"(\w+)"/g)
  return [...texts].filter(([, name]) => type.test(name!)).length
}

/** A call of the tool that fetches originals, as the model would make it after a marker. */
function retrievalIn(request: Request): { readonly tool: string; readonly hash: string } | null {
  const tool = toolsOf(request).find(name => name.endsWith('haversack_retrieve'))
  const text = JSON.stringify(request.messages ?? request.input ?? [])
  const hash = [...text.matchAll(/> \[elided: [^\]]*hash=([0-9a-f]+)/g)].at(-1)?.[1]
  return tool === undefined || hash === undefined ? null : { tool, hash }
}

/** The step that comes next; `undefined` if the model has no more to do. */
function nextStep(request: Request, step: Step | undefined): Step | undefined {
  return step !== undefined && 'retrieves' in step && retrievalIn(request) === null
    ? undefined
    : step
}

const commandOf = (step: Step): string => {
  if ('retrieves' in step) throw new Error('a retrieval is no command')
  if ('command' in step) return step.command
  const { file, offset = 1, limit } = step
  return `nl -ba ${file} | tail -n +${offset}${limit === undefined ? '' : ` | head -n ${limit}`}`
}

/** The tool that runs commands, if the agent asks for its main model. */
function shellOf(request: Request): string | undefined {
  return toolsOf(request).find(name => name === 'Bash' || name === 'bash')
}

/** The name and the arguments of a call. */
function anthropicCall(request: Request, step: Step): readonly [string, object] {
  if ('retrieves' in step) {
    const { tool, hash } = retrievalIn(request)!
    return [tool, { hash, lines: '1-5' }]
  }
  const isClaude = shellOf(request) === 'Bash'
  if ('command' in step) return [isClaude ? 'Bash' : 'bash', { ...step, description: 'look' }]
  const { file, ...part } = step
  return isClaude ? ['Read', { ...part, file_path: file }] : ['read', { ...part, filePath: file }]
}

function speakAnthropic(request: Request, script: readonly Step[]): Events {
  const { model, messages } = request
  const done = resultsIn(messages, /^tool_result$/)
  const step = shellOf(request) === undefined ? undefined : nextStep(request, script[done])
  const isCall = step !== undefined
  const called = step === undefined ? [] : anthropicCall(request, step)
  const usage = { input_tokens: 10, output_tokens: 5 }
  const stop = { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null }
  const message = {
    ...{ id: `msg_${done}`, type: 'message', role: 'assistant', model, content: [], usage },
    ...{ stop_reason: null, stop_sequence: null },
  }
  const block = isCall
    ? { type: 'tool_use', id: `toolu_${done}`, name: called[0], input: {} }
    : { type: 'text', text: '' }
  const delta = isCall
    ? { type: 'input_json_delta', partial_json: JSON.stringify(called[1]) }
    : { type: 'text_delta', text: LAST_WORDS }
  return [
    { type: 'message_start', ...{ message } },
    { type: 'content_block_start', ...{ index: 0, content_block: block } },
    { type: 'content_block_delta', ...{ index: 0, delta } },
    { type: 'content_block_stop', ...{ index: 0 } },
    { type: 'message_delta', ...{ delta: stop, usage } },
    { type: 'message_stop' },
  ]
}

/** Tools that run a command, as their calls are written. */
const SHELLS: Readonly<Record<string, (command: string) => object>> = {
  // A program that runs the command, and shows what it gave.
  exec: cmd => ({
    type: 'custom_tool_call',
    input: `text((await tools.exec_command(${JSON.stringify({ cmd })})).output)`,
  }),
  exec_command: cmd => ({ type: 'function_call', arguments: JSON.stringify({ cmd }) }),
  shell_command: command => ({ type: 'function_call', arguments: JSON.stringify({ command }) }),
}

function retrievalCall(request: Request): object {
  const { hash } = retrievalIn(request)!
  return { type: 'function_call', arguments: JSON.stringify({ hash, lines: '1-5' }) }
}

function speakResponses(request: Request, script: readonly Step[]): Events {
  const done = resultsIn(request.input, /_output$/)
  const step = nextStep(request, script[done])
  const isRetrieval = step !== undefined && 'retrieves' in step
  const shell = toolsOf(request).find(each => Object.hasOwn(SHELLS, each))
  const name = isRetrieval ? retrievalIn(request)!.tool : shell
  const item =
    step === undefined || name === undefined
      ? {
          ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: LAST_WORDS, annotations: [] }],
        }
      : {
          ...{ id: `fc_${done}`, call_id: `call_${done}`, name, status: 'completed' },
          ...(isRetrieval ? retrievalCall(request) : SHELLS[name]!(commandOf(step))),
        }
  const response = { id: `resp_${done}`, object: 'response', status: 'in_progress', output: [] }
  const usage = {
    ...{ input_tokens: 100, input_tokens_details: { cached_tokens: 0 }, total_tokens: 105 },
    ...{ output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 } },
  }
  return [
    { type: 'response.created', ...{ response } },
    { type: 'response.output_item.done', ...{ output_index: 0, item } },
    {
      type: 'response.completed',
      ...{ response: { ...response, status: 'completed', output: [item], usage } },
    },
  ]
}
