import { stringify } from 'smol-toml'
import { isOwnProgram } from '../../../runtime/installation.ts'
import { type FoundServer, isObject } from './client-file.ts'

/** What is printed for some servers. */
export interface Imported {
  /** TOML; nothing if there is no server to import. */
  readonly toml: string
  /** Lines for the user: what could not be taken over, and what should be changed. */
  readonly warnings: readonly string[]
}

/** Names that our configuration takes. */
const MAX_NAME_CHARS = 20

/** The names of secrets, mostly. */
const SECRET = /key|token|secret|password|passwd|authorization|credential/i

/** `${VAR}`, `${env:VAR}`, with or without a default value. */
const VARIABLE = /^\$\{(?:env:)?([A-Za-z_]\w*)(?::-[^}]*)?\}$/
const ANY_VARIABLE = /\$\{[^}]*\}/

/** The `[mcp]` of our configuration for what a client's file names. */
export function toConfig(found: readonly FoundServer[]): Imported {
  const warnings: string[] = []
  const servers: Record<string, object> = {}
  for (const server of found) {
    if (isGateway(server)) continue
    const name = freeName(server.name, servers)
    if (name !== server.name) warnings.push(`${server.name} is called ${name} now`)
    const warn = (text: string) => warnings.push(`${name}: ${text}`)
    const terms = serverTerms(server.terms, warn)
    if (terms !== null) servers[name] = terms
  }
  const isEmpty = Object.keys(servers).length === 0
  return { toml: isEmpty ? '' : `${stringify({ mcp: { servers } })}\n`, warnings }
}

/** Whether it is `haversack mcp` already. */
function isGateway({ terms: { command, args } }: FoundServer): boolean {
  return isOwnProgram(command) && Array.isArray(args) && args[0] === 'mcp'
}

function serverTerms(
  terms: FoundServer['terms'],
  warn: (text: string) => void,
): Record<string, unknown> | null {
  const { command, url, serverUrl, type } = terms
  if (terms['disabled'] === true || terms['enabled'] === false) {
    warn('it is disabled there, and left out')
    return null
  }
  if (type === 'sse') warn('its transport (sse) is older than Streamable HTTP, and may not work')
  const tools = toolsOf(terms)
  if (typeof command === 'string') {
    const args = textsOf(terms['args'])
    for (const arg of args) if (ANY_VARIABLE.test(arg)) warn(`the argument ${arg} is not replaced`)
    const env = { ...secretsOf(terms['env'], warn), ...namedVariables(terms['env_vars']) }
    const cwd = typeof terms['cwd'] === 'string' ? { cwd: terms['cwd'] } : {}
    return { command, args, ...(Object.keys(env).length === 0 ? {} : { env }), ...cwd, ...tools }
  }
  const address = url ?? serverUrl
  if (typeof address !== 'string' || !/^https?:/.test(address)) {
    warn('it has neither a command nor a URL, and is left out')
    return null
  }
  const headers = headersOf(terms, warn)
  const auth = Object.keys(headers).length === 0 ? {} : { auth: { kind: 'headers', headers } }
  return { url: address, ...auth, ...tools }
}

/** Headers as Claude Code, Cursor and VS Code name them, then as Codex does. */
function headersOf(terms: FoundServer['terms'], warn: (text: string) => void) {
  const headers = {
    ...secretsOf(terms['headers'], warn),
    ...secretsOf(terms['http_headers'], warn),
  }
  const named = isObject(terms['env_http_headers']) ? terms['env_http_headers'] : {}
  for (const [name, variable] of Object.entries(named)) headers[name] = `env:${variable}`
  const token = terms['bearer_token_env_var']
  if (typeof token === 'string') {
    headers['Authorization'] = `env:${token}_HEADER`
    warn(`set ${token}_HEADER to "Bearer " and the value of ${token}`)
  }
  return headers
}

function secretsOf(values: unknown, warn: (text: string) => void): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [name, value] of Object.entries(isObject(values) ? values : {})) {
    const text = String(value)
    const variable = VARIABLE.exec(text)?.[1]
    if (variable !== undefined) found[name] = `env:${variable}`
    else if (ANY_VARIABLE.test(text)) {
      const own = `${name.toUpperCase().replaceAll(/\W/g, '_')}_VALUE`
      found[name] = `env:${own}`
      warn(`set ${own} to what ${text} means in that client`)
    } else if (text !== '') {
      found[name] = text
      if (SECRET.test(name)) warn(`${name} stands in the clear: env:NAME or file:PATH is safer`)
    }
  }
  return found
}

/** Variables that Codex passes on. */
function namedVariables(names: unknown): Record<string, string> {
  return Object.fromEntries(textsOf(names).map(name => [name, `env:${name}`]))
}

function toolsOf(terms: FoundServer['terms']): object {
  const include = textsOf(terms['enabled_tools'])
  const exclude = textsOf(terms['disabled_tools'])
  if (include.length === 0 && exclude.length === 0) return {}
  return {
    tools: {
      ...(include.length === 0 ? {} : { include }),
      ...(exclude.length === 0 ? {} : { exclude }),
    },
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(each => typeof each === 'string') : []
}

function freeName(name: string, taken: object): string {
  const spelt = name
    .replaceAll(/[^A-Za-z0-9_-]/g, '-')
    .replaceAll(/_{2,}/g, '_')
    .replace(/^[_-]+/, '')
    .slice(0, MAX_NAME_CHARS)
    .replace(/_+$/, '')
  const base = spelt === '' ? 'server' : spelt
  for (let i = 1; ; i++) {
    const end = i === 1 ? '' : `-${i}`
    const free = base.slice(0, MAX_NAME_CHARS - end.length) + end
    if (!Object.hasOwn(taken, free)) return free
  }
}
