import type { Exchange } from './exchange.ts'

export interface RecordingOptions {
  /** The revision that it speaks: 2025-11-25, or 2026-07-28. */
  readonly era: 'legacy' | 'modern'
  /** The tools that it lists: a JSON array. */
  readonly tools?: string
  /** Whether it gives sessions over HTTP to clients of 2025, and refuses others. */
  readonly sessions?: boolean
  /** Its capabilities: a JSON object. */
  readonly capabilities?: string
}

const TOOLS = '[{"name":"echo","description":"Answers","inputSchema":{"type":"object"}}]'
const CAPABILITIES = '{"tools":{"listChanged":true},"resources":{"subscribe":true},"logging":{}}'
const SERVER_INFO = '{"name":"recorder","version":"1"}'
const CACHED = '"resultType":"complete","ttlMs":0,"cacheScope":"private"'
const SERVER_META = `"_meta":{"io.modelcontextprotocol/serverInfo":${SERVER_INFO}}`
const NOT_FOUND = '{"code":-32601,"message":"Method not found"}'

/** What an upstream does with a call that no test has a handler for. */
export function answerByDefault(exchange: Exchange, options: RecordingOptions): void {
  const { method, id } = exchange.call
  const result = options.era === 'modern' ? modern(method, options) : legacy(method, options)
  const isLegacy = options.era === 'legacy'
  if (method === 'subscriptions/listen' && !isLegacy) acknowledge(exchange)
  else if (exchange.call.http?.method === 'GET') openOrRefuse(exchange, isLegacy)
  else if (id === null) exchange.channel.status(202)
  else if (result === undefined) exchange.error(NOT_FOUND)
  else exchange.result(result)
}

function modern(method: string | null, options: RecordingOptions): string | undefined {
  const { tools = TOOLS, capabilities = CAPABILITIES } = options
  if (method === 'server/discover') {
    const versions = '"supportedVersions":["2026-07-28"]'
    return `{${CACHED},${versions},"capabilities":${capabilities},${SERVER_META}}`
  }
  if (method === 'tools/list') return `{${CACHED},"tools":${tools}}`
  if (method === 'tools/call') return `{"resultType":"complete",${content('ok')}}`
  return undefined
}

function legacy(method: string | null, options: RecordingOptions): string | undefined {
  const { tools = TOOLS, capabilities = CAPABILITIES } = options
  if (method === 'initialize') {
    const rest = `"capabilities":${capabilities},"serverInfo":${SERVER_INFO}`
    return `{"protocolVersion":"2025-11-25",${rest}}`
  }
  if (method === 'ping' || method === 'logging/setLevel') return '{}'
  if (method === 'resources/subscribe' || method === 'resources/unsubscribe') return '{}'
  if (method === 'tools/list') return `{"tools":${tools}}`
  if (method === 'tools/call') return `{${content('ok')}}`
  return undefined
}

function content(text: string): string {
  return `"content":[{"type":"text","text":${JSON.stringify(text)}}]`
}

function openOrRefuse({ channel }: Exchange, isLegacy: boolean): void {
  if (isLegacy) channel.open()
  else channel.status(405, { allow: 'POST' })
}

/** Grants all that the client asks for. The stream stays open. */
function acknowledge(exchange: Exchange): void {
  const { params } = JSON.parse(exchange.call.bytes.toString())
  const notifications = JSON.stringify(params.notifications)
  const granted = `"notifications":${notifications}`
  exchange.notify('notifications/subscriptions/acknowledged', subscribed(exchange, granted))
}

/** Params of a notification of a subscription, with more members as JSON. */
export function subscribed({ call }: Exchange, ...members: readonly string[]): string {
  const meta = `"_meta":{"io.modelcontextprotocol/subscriptionId":${call.id}}`
  return `{${[meta, ...members].join(',')}}`
}
