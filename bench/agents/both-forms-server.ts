import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/**
 * An MCP server of one pipe whose tools answer with a text and a structured value that differ, so
 * that what a model is shown tells which of them its client passes on.
 *
 * node both-forms-server.ts FILE: the names of clients are appended to the file, one a line.
 */
const AS_TEXT = 'given-as-text'
const AS_STRUCTURED = 'given-as-structured'

const object = { type: 'object', properties: {} }
const form = { ...object, properties: { form: { type: 'string' } }, required: ['form'] }
const tool = (name: string) => ({
  name,
  description: 'Tells the form of an answer.',
  inputSchema: object,
  annotations: { readOnlyHint: true },
})
const kept = { name: 'form_kept', description: 'Keeps a form.', inputSchema: object }
const TOOLS = [tool('form_free'), { ...tool('form_declared'), outputSchema: form }, kept]

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: {
    readonly protocolVersion?: string
    readonly clientInfo?: { readonly name?: string }
  }
}

function answer({ method, params }: Message): object {
  if (method === 'initialize') {
    appendFileSync(process.argv[2]!, `${params?.clientInfo?.name ?? ''}\n`)
    const { protocolVersion } = params ?? {}
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'f', version: '1' } }
  }
  if (method === 'tools/list') return { tools: TOOLS }
  if (method !== 'tools/call') return {}
  return { content: [{ type: 'text', text: AS_TEXT }], structuredContent: { form: AS_STRUCTURED } }
}

createInterface({ input: process.stdin }).on('line', line => {
  const message = JSON.parse(line) as Message
  if (message.id === undefined) return
  const { id } = message
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: answer(message) })}\n`)
})
