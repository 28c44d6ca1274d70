import { headerValue } from '../../../src/mcp/upstream/http-headers.ts'
import { CALLER_HEADER } from './front-server.ts'

const M = 'io.modelcontextprotocol/'

export interface PostOptions {
  readonly capabilities?: object
  readonly meta?: object
  readonly headers?: Readonly<Record<string, string>>
  readonly caller?: string
  readonly signal?: AbortSignal
  readonly id?: string
}

/** A POST of a client without an SDK; `params` without `_meta`, as JSON or as an object. */
export function post(
  url: string,
  method: string,
  params: string | object = {},
  options: PostOptions = {},
): Promise<Response> {
  const { capabilities = {}, meta = {}, headers = {}, caller, signal, id = '7' } = options
  const text = typeof params === 'string' ? params : JSON.stringify(params)
  const _meta = JSON.stringify({
    [`${M}protocolVersion`]: '2026-07-28',
    [`${M}clientCapabilities`]: capabilities,
    ...meta,
  })
  const separator = text === '{}' ? '' : ','
  const full = `${text.slice(0, -1)}${separator}"_meta":${_meta}}`
  const { name, uri, taskId } = JSON.parse(text)
  const named = name ?? uri ?? taskId
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof named === 'string' ? { 'mcp-name': headerValue(named) } : {}),
      ...(caller === undefined ? {} : { [CALLER_HEADER]: caller }),
      ...headers,
    },
    body: `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${full}}`,
    ...(signal === undefined ? {} : { signal }),
  })
}

/** The messages of an answer, of either form, as they come. */
export async function* messagesOf(response: Response): AsyncGenerator<object> {
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield JSON.parse(await response.text())
    return
  }
  let rest = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split('\n\n')
    rest = events.pop() as string
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data !== undefined) yield JSON.parse(data)
    }
  }
}

/** All messages of an answer. */
export async function allOf(response: Response): Promise<object[]> {
  const all: object[] = []
  for await (const message of messagesOf(response)) all.push(message)
  return all
}
