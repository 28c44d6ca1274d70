import { createInterface } from 'node:readline'

/**
 * An MCP server of one pipe whose tools answer with a text and a structured value that differ, so
 * that what a model is shown tells which of them its client passes on. Both name the client.
 */
const object = { type: 'object', properties: {} }
const form = { ...object, properties: { form: { type: 'string' } }, required: ['form'] }
const kept = { name: 'form_kept', description: 'Keeps a form.', inputSchema: object }
const free = {
  ...{ ...kept, name: 'form_free', description: 'Tells the form of an answer.' },
  annotations: { readOnlyHint: true },
}
const TOOLS = [free, { ...free, name: 'form_declared', outputSchema: form }, kept]

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly protocolVersion?: string
    readonly clientInfo?: { readonly name?: string }
  }
}

let client = ''

function answer({ method, params }: Message): object {
  if (method === 'initialize') {
    client = params?.clientInfo?.name ?? ''
    const { protocolVersion } = params ?? {}
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } }
  }
  if (method === 'tools/list') return { tools: TOOLS }
  if (method !== 'tools/call') return {}
  const given = (as: string) => `given-as-${as} to ${client}`
  const content = [{ type: 'text', text: given('text') }]
  return { content, structuredContent: { form: given('structured') } }
}

createInterface({ input: process.stdin }).on('line', line => {
  const message = JSON.parse(line) as Message
  if (message.id === undefined) return
  const { id } = message
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(message) })}\n`)
})
