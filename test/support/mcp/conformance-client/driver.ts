/**
 * The client of `conformance client --command`: puts the given URL behind `haversack mcp` and calls
 * what the scenario wants to be called.
 */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { type GatewayCommand, gatewayCommand } from './gateway-command.ts'

const url = process.argv.at(-1) as string
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly toolCalls?: readonly { name: string; arguments: Record<string, unknown> }[]
  readonly client_id?: string
  readonly client_secret?: string
  readonly private_key_pem?: string
  readonly signing_algorithm?: string
}

/** What the suite expects of a client that describes itself. */
const CLIENT_METADATA_URL = 'https://conformance-test.local/client-metadata.json'
/** Logins that a patient user tries. */
const MOST_LOGINS = 3
const LIST_MS = 5_000

/** Values of arguments, by type. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  string: 'test',
  number: 1,
  integer: 1,
  boolean: true,
  array: [],
  object: {},
}

const isAuth = scenario.startsWith('auth/')

const command = gatewayCommand(url, isAuth ? oauthOptions() : '{ kind = "none" }')
const client = new Client(
  { name: 'conformance-driver', version: '1.0.0' },
  { capabilities: { elicitation: { form: { applyDefaults: true } } } },
)
client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }))
try {
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: command.args(),
      env: process.env as Record<string, string>,
      stderr: 'inherit',
    }),
  )
  if (isAuth) await authorizedCalls(command)
  else if (context.toolCalls !== undefined) await listedCalls(context.toolCalls)
  else await callAll()
} finally {
  await client.close()
  command.remove()
}

function oauthOptions(): string {
  const { client_id, client_secret, private_key_pem, signing_algorithm } = context
  const isClientOnly = scenario.startsWith('auth/client-credentials')
  const pairs = {
    kind: 'oauth',
    ...(isClientOnly ? { grant: 'client_credentials' } : {}),
    ...(client_id === undefined ? {} : { client_id }),
    ...(client_secret === undefined ? {} : { client_secret }),
    ...(private_key_pem === undefined ? {} : { client_key: private_key_pem }),
    ...(signing_algorithm === undefined ? {} : { client_key_alg: signing_algorithm }),
    client_metadata_url: CLIENT_METADATA_URL,
  }
  const members = Object.entries(pairs).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  return `{ ${members.join(', ')} }`
}

async function authorizedCalls({ login }: GatewayCommand): Promise<void> {
  let { tools } = await client.listTools()
  let logins = 0
  while (tools.length === 0 && logins++ < MOST_LOGINS) {
    if ((await login()) !== 0) throw new Error('login failed')
    tools = await listedTools()
  }
  for (const { name, inputSchema } of tools) {
    for (;;) {
      const result = await client.callTool({ name, arguments: argumentsFor(inputSchema) })
      if (!JSON.stringify(result).includes('haversack mcp login')) break
      if (logins++ >= MOST_LOGINS) throw new Error('still refused')
      if ((await login()) !== 0) throw new Error('login failed')
    }
  }
}

/** A new token is noticed within a second or so. */
async function listedTools() {
  const until = Date.now() + LIST_MS
  for (;;) {
    const { tools } = await client.listTools()
    if (tools.length > 0 || Date.now() > until) return tools
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}

async function listedCalls(calls: NonNullable<typeof context.toolCalls>): Promise<void> {
  await client.listTools()
  for (const call of calls) await client.callTool(call)
}

async function callAll(): Promise<void> {
  const { tools } = await client.listTools()
  // That server lists a tool which it does not serve.
  if (scenario === 'json-schema-ref-no-deref') return
  for (const { name, inputSchema } of tools) {
    await client.callTool({ name, arguments: argumentsFor(inputSchema) })
  }
  if (scenario !== 'http-standard-headers') return
  const { prompts } = await client.listPrompts()
  for (const { name } of prompts) await client.getPrompt({ name })
  const { resources } = await client.listResources()
  for (const { uri } of resources) await client.readResource({ uri })
}

function argumentsFor(schema: {
  readonly properties?: object | undefined
}): Record<string, unknown> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, { type?: string }>)
  return Object.fromEntries(
    properties.map(([name, { type }]) => [name, SAMPLES[type ?? 'string'] ?? 'test']),
  )
}
