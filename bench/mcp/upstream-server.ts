import { LineReader } from '../../src/mcp/upstream/line-reader.ts'
import { type Halves, resultsOf, TOOLS, type ToolName } from './results.ts'

/**
 * An MCP server over stdio that costs next to nothing. It writes results that were made at the
 * tool's first call, with the call's `nonce` in each. A call of `hang` has no answer.
 */
const results = new Map<string, readonly Halves[]>()
let turn = 0

const INITIALIZED = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'bench', version: '1' },
})
const LIST = JSON.stringify({
  tools: [...TOOLS, 'rows_750k', 'hang'].map(name => ({
    name,
    inputSchema: { type: 'object', properties: { nonce: { type: 'string' } } },
  })),
})

interface Message {
  readonly id?: number | string
  readonly method: string
  readonly params?: {
    readonly name: ToolName | 'hang'
    readonly arguments?: { readonly nonce?: string }
  }
}

/** Returns `null` if there is no answer. */
function answer(line: Buffer): Buffer | null {
  const { id, method, params } = JSON.parse(line.toString()) as Message
  if (id === undefined || params?.name === 'hang') return null
  const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},`
  if (method === 'initialize') return Buffer.from(`${head}"result":${INITIALIZED}}`)
  if (method === 'tools/list') return Buffer.from(`${head}"result":${LIST}}`)
  if (method !== 'tools/call' || params === undefined) {
    return Buffer.from(`${head}"error":{"code":-32601,"message":"no such method"}}`)
  }
  const variants = results.get(params.name) ?? resultsOf(params.name)
  results.set(params.name, variants)
  const [before, after] = variants[turn++ % variants.length]!
  const nonce = Buffer.from(params.arguments?.nonce ?? '')
  return Buffer.concat([
    ...[Buffer.from(`${head}"result":`), before, nonce, after],
    Buffer.from('}'),
  ])
}

const lines = new LineReader(1e9)
process.stdin.on('data', chunk => {
  lines.push(chunk as Buffer, line => {
    const bytes = answer(line)
    if (bytes !== null) process.stdout.write(Buffer.concat([bytes, Buffer.from('\n')]))
  })
})
