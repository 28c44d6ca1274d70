/** A client of Streamable HTTP without an SDK: what it sends and reads is seen. */
export class RawHttpClient {
  readonly url: string
  readonly #headers: Record<string, string>
  #lastId = 0

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.url = url
    this.#headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    }
  }

  get session(): string {
    return this.#headers['mcp-session-id'] ?? ''
  }

  /** Opens a session. Returns the answer. */
  async initialize(capabilities: object = {}, protocolVersion = '2025-11-25') {
    const clientInfo = { name: 'raw', version: '1' }
    const params = { protocolVersion, capabilities, clientInfo }
    const response = await this.post(this.request('initialize', params))
    const session = response.headers.get('mcp-session-id')
    if (session !== null) this.#headers['mcp-session-id'] = session
    return response
  }

  /** A request with the next id, as JSON. */
  request(method: string, params: object = {}): string {
    return JSON.stringify({ jsonrpc: '2.0', id: ++this.#lastId, method, params })
  }

  post(body: string | Uint8Array<ArrayBuffer>, options: RequestInit = {}): Promise<Response> {
    return this.#send({ method: 'POST', body, ...options })
  }

  /** Sends a request. Returns its answer, parsed, whichever way it came. */
  async call(method: string, params: object = {}) {
    const response = await this.post(this.request(method, params))
    const isStream = response.headers.get('content-type') === 'text/event-stream'
    if (!isStream) return JSON.parse(await response.text())
    for await (const { data } of eventsOf(response)) {
      const message = JSON.parse(data)
      if (message.id !== undefined && message.method === undefined) return message
    }
  }

  get(headers: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<Response> {
    return this.#send({ method: 'GET', headers, ...(signal === undefined ? {} : { signal }) })
  }

  delete(): Promise<Response> {
    return this.#send({ method: 'DELETE' })
  }

  #send(options: RequestInit): Promise<Response> {
    const headers = { ...this.#headers, ...(options.headers as Record<string, string>) }
    return fetch(this.url, { ...options, headers })
  }
}

export interface ServerEvent {
  readonly id: string | null
  readonly data: string
}

/** The events of a stream, without comments. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  let text = ''
  for await (const chunk of response.body as ReadableStream<Uint8Array>) {
    text += Buffer.from(chunk).toString()
    const events = text.split('\n\n')
    text = events.pop() as string
    for (const event of events) {
      const lines = event.split('\n').filter(line => !line.startsWith(':'))
      if (lines.length === 0) continue
      const of = (name: string) =>
        lines.find(line => line.startsWith(`${name}: `))?.slice(name.length + 2)
      yield { id: of('id') ?? null, data: of('data') ?? '' }
    }
  }
}
