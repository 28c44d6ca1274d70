import { z } from 'zod'
import { placesIn } from '../core/enrich/composed-arguments.ts'
import { mcpAuth, secretText } from './mcp-auth.ts'

/**
 * Names are part of the tools' names, which clients bound. Without `__`, and without `_` at the
 * end, no two servers can have a tool of the same public name.
 */
const serverName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?!.*__)(?!.*_$)[A-Za-z0-9_-]{0,19}$/,
    'a name has at most 20 letters, digits, - and _, no __, and no _ at its end',
  )

/** `*` matches anything. */
const toolPattern = z.string().min(1).max(256)

const resultMode = z.enum(['lossless', 'elide', 'trim'])

/** A server behind the gateway: a command that is started here, or a URL. */
const mcpServer = z
  .strictObject({
    url: z.url({ protocol: /^https?$/ }).optional(),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).max(1_000).default([]),
    env: z
      .record(z.string().regex(/^\w{1,256}$/, 'a variable has letters, digits and _'), secretText)
      .default({}),
    cwd: z.string().min(1).optional(),
    auth: mcpAuth.default({ kind: 'none' }),
    /** `shared`: the server keeps nothing for a client, and all clients use one connection. */
    sharing: z.enum(['connection', 'shared']).default('connection'),
    /** Whether the annotations of its tools are believed. */
    trusted: z.boolean().default(false),
    tools: z
      .strictObject({
        include: z.array(toolPattern).max(1_000).default(['*']),
        exclude: z.array(toolPattern).max(1_000).default([]),
      })
      .prefault({}),
    mode: resultMode.default('lossless'),
    budget_tokens: z.int().positive().optional(),
    /** Whether texts of resources are encoded too. */
    resources: z.boolean().default(false),
    /** Whether tools whose definitions change are withheld until they are accepted. */
    pin: z.boolean().default(false),
    structured: z.enum(['auto', 'keep', 'text']).default('auto'),
    timeout_ms: z.int().positive().max(86_400_000).default(60_000),
  })
  .refine(({ url, command }) => (url === undefined) !== (command === undefined), {
    message: 'must have either url or command',
  })
  .refine(({ url, auth }) => url !== undefined || auth.kind === 'none', {
    message: 'auth is for servers with a url',
  })
  .refine(({ pin, auth }) => !pin || auth.kind !== 'forward', {
    message: 'pin is not for servers whose clients have credentials of their own',
  })
  .refine(({ mode, budget_tokens }) => mode !== 'trim' || budget_tokens !== undefined, {
    message: 'mode trim needs budget_tokens',
  })

const composedStep = z.strictObject({
  label: z.string().min(1).max(256),
  server: serverName,
  tool: z.string().min(1).max(256),
  /** `{name}` in a text is the argument of that name. */
  arguments: z.record(z.string(), z.json()).default({}),
})

/** A tool of our own: several calls that only read, and one answer. */
const composedTool = z
  .strictObject({
    description: z.string().min(1).max(10_000),
    parameters: z
      .record(z.string().regex(/^[A-Za-z_]\w{0,63}$/), z.string().max(10_000))
      .default({}),
    calls: z.array(composedStep).min(2).max(8),
  })
  .superRefine(({ parameters, calls }, context) => {
    const unknown = calls.flatMap(step => placesIn(step.arguments))
    for (const name of new Set(unknown.filter(name => !Object.hasOwn(parameters, name)))) {
      context.addIssue(`{${name}} is no parameter`)
    }
  })

/** Tools on demand: clients see a search in place of all definitions. */
const toolSearch = z
  .strictObject({
    mode: z.enum(['auto', 'always', 'never']).default('auto'),
    /** Public names that stay in the list. */
    keep: z.array(toolPattern).max(1_000).default([]),
  })
  .prefault({})

/** The servers of the MCP gateway by name, and tools that are composed of theirs. */
export const mcpSchema = z
  .strictObject({
    servers: z.record(serverName, mcpServer).default({}),
    composed: z
      .record(
        z.string().regex(/^[A-Za-z0-9_-]{1,44}$/, 'a name has at most 44 letters, digits, - and _'),
        composedTool,
      )
      .default({}),
    search: toolSearch,
  })
  .superRefine(({ servers, composed }, context) => {
    for (const [name, { calls }] of Object.entries(composed)) {
      calls.forEach(({ server }, at) => {
        if (Object.hasOwn(servers, server)) return
        const path = ['composed', name, 'calls', at, 'server']
        context.addIssue({ code: 'custom', message: `no server ${server}`, path })
      })
    }
  })
  .prefault({})

export type McpServerConfig = z.output<typeof mcpServer>
