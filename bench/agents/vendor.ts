import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { contentCodingOf, decodeBody } from '../../src/core/base/content-coding.ts'
import { type DialectName, type Said, STREAMS, WHOLE } from '../../test/support/vendor-answers.ts'
import type { Step } from './project.ts'

interface Tool {
  readonly name?: string
  /** Only a namespace has them. */
  readonly tools?: readonly Tool[]
  /** OpenAI's, for completions. */
  readonly function?: Tool
  /** Gemini's. */
  readonly functionDeclarations?: readonly Tool[]
}

/** What a model gets, in the shapes of four APIs. */
interface ModelRequest {
  readonly stream?: boolean
  readonly tools?: readonly Tool[]
  readonly messages?: readonly object[]
  readonly contents?: readonly object[]
  readonly input?: readonly { readonly tools?: readonly Tool[] }[]
}

/** Names of all tools of a request, also of those that come with the conversation. */
export function toolsOf({ tools = [], input = [] }: ModelRequest): readonly string[] {
  const all = [...tools, ...input.flatMap(item => item.tools ?? [])]
  return all.flatMap(tool => {
    const inner = tool.tools ?? tool.functionDeclarations ?? [tool.function ?? tool]
    return inner.map(each => each.name ?? '')
  })
}

type Call = Omit<Extract<Said, { readonly call: string }>, 'id'>

/** Agents' tools that run a command, with their arguments. */
const SHELLS: Readonly<Record<string, (command: string) => Omit<Call, 'call'>>> = {
  Bash: command => ({ input: { command, description: 'look' } }),
  bash: command => ({ input: { command, description: 'look' } }),
  run_shell_command: command => ({
    input: { command, description: 'look', is_background: false },
  }),
  exec_command: cmd => ({ input: { cmd } }),
  shell_command: command => ({ input: { command } }),
  // A program that runs the command, and shows what it gave.
  exec: cmd => ({
    ...{ input: {} },
    program: `text((await tools.exec_command(${JSON.stringify({ cmd })})).output)`,
  }),
}

/** Agents' tools that read a file. Others read by a command. */
const READERS: Readonly<Record<string, (part: Extract<Step, { file: string }>) => object>> = {
  Read: ({ file, ...part }) => ({ ...part, file_path: file }),
  read: ({ file, ...part }) => ({ ...part, filePath: file }),
  read_file: ({ file, ...part }) => ({ ...part, file_path: file }),
}

const MARKER = /> \[\d[^\]]* not shown [^\]]*hash=([0-9a-f]+)/g

/** The call of a step; `null` if the agent has no tool for it. */
function callOf(step: Step, request: ModelRequest, conversation: string): Call | null {
  const names = toolsOf(request)
  if ('retrieves' in step) {
    const call = names.find(name => name.endsWith('haversack_retrieve'))
    const hash = [...conversation.matchAll(MARKER)].at(-1)?.[1]
    const isThere = call !== undefined && hash !== undefined
    return isThere ? { call, input: { hash, lines: '1-5' } } : null
  }
  const shell = names.find(name => Object.hasOwn(SHELLS, name))
  if ('tool' in step) {
    const { tool, args } = step
    const program = `text(await tools.${tool}(${JSON.stringify(args)}))`
    if (shell === 'exec') return { call: shell, input: {}, program }
    // Each agent has another name of the server before the tool's own.
    const own = tool.slice(tool.lastIndexOf('__') + 1)
    return { call: names.find(name => name.endsWith(own)) ?? tool, input: args }
  }
  const reader = names.find(name => Object.hasOwn(READERS, name))
  if ('file' in step && reader !== undefined && request.input === undefined) {
    const { offset = 1, limit } = step
    const range = limit && { start_line: offset, end_line: offset + limit - 1 }
    const part = request.contents === undefined ? step : { file: step.file, ...range }
    return { call: reader, input: READERS[reader]!(part) }
  }
  return shell === undefined ? null : { call: shell, ...SHELLS[shell]!(commandOf(step)) }
}

function commandOf(step: Extract<Step, { command: string } | { file: string }>): string {
  if ('command' in step) return step.command
  const { file, offset = 1, limit } = step
  return `nl -ba ${file} | tail -n +${offset}${limit === undefined ? '' : ` | head -n ${limit}`}`
}

const RESULT = /"type":"(?:tool_result|\w+_output)"|"role":"tool"|"functionResponse":/g

/** What a model says that follows a script: a step for each result that it has got. */
function nextSaid(request: ModelRequest, script: readonly Step[]): Said {
  const { messages, contents, input } = request
  const conversation = JSON.stringify(messages ?? contents ?? input ?? [])
  const done = [...conversation.matchAll(RESULT)].length
  // Titles and the like are asked for without the tools.
  const names = toolsOf(request)
  const isMain = names.some(name => Object.hasOwn(SHELLS, name))
  const step = isMain ? script[done] : undefined
  const call = step === undefined ? null : callOf(step, request, conversation)
  return call === null ? { text: 'That is all.' } : { ...call, id: `call_${done}` }
}

/** An answer of Gemini's API in one piece; a stream has one event with it. */
function speakGemini(said: Said): object {
  const part =
    'call' in said ? { functionCall: { name: said.call, args: said.input } } : { ...said }
  const content = { role: 'model', parts: [part] }
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }
  return { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata }
}

/** APIs by the ends of their paths. */
const DIALECTS: readonly (readonly [string, DialectName | 'gemini'])[] = [
  ['/v1/messages', 'anthropic'],
  ['/responses', 'responses'],
  ['/chat/completions', 'chat'],
  [':generateContent', 'gemini'],
  [':streamGenerateContent', 'gemini'],
]

/** The APIs of three vendors with a model that follows a script. */
export interface ScriptedVendor {
  readonly url: string
  /** Those with tools as they arrived, without their content coding. */
  readonly requests: readonly Uint8Array[]
  close(): Promise<void>
}

const MAX_BYTES = 1 << 26

export async function startScriptedVendor(script: readonly Step[]): Promise<ScriptedVendor> {
  const requests: Uint8Array[] = []
  const server = createServer(async (incoming, response) => {
    const raw = await buffer(incoming)
    const path = (incoming.url ?? '').split('?', 1)[0]!
    const [, dialect] = DIALECTS.find(([end]) => path.endsWith(end)) ?? []
    const answer = (status: number, type: string, text: string) =>
      void response.writeHead(status, { 'content-type': type }).end(text)
    const json = (value: object, status = 200) =>
      answer(status, 'application/json', JSON.stringify(value))
    if (incoming.method !== 'POST' || dialect === undefined) {
      return json({ data: [], models: [] }, path.endsWith('/models') ? 200 : 404)
    }
    const coding = contentCodingOf(incoming.headers['content-encoding'] ?? '')
    const body = coding === null ? raw : decodeBody(raw, coding, MAX_BYTES)
    if (body === null) return json({}, 400)
    const request = JSON.parse(Buffer.from(body).toString()) as ModelRequest
    if (toolsOf(request).length > 0) requests.push(body)
    const said = nextSaid(request, script)
    const events = (text: string) => answer(200, 'text/event-stream', text)
    const id = `r${requests.length}`
    if (dialect !== 'gemini') {
      if (request.stream === true) return events(STREAMS[dialect]([said], id).join(''))
      return json(WHOLE[dialect]([said], id))
    }
    const whole = speakGemini(said)
    return path.includes(':stream') ? events(`data: ${JSON.stringify(whole)}\n\n`) : json(whole)
  })
  // Codex tries a WebSocket first.
  server.on('upgrade', (_, socket) => {
    socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
