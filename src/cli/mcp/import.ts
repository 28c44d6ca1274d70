import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { applyEdits, modify, parse } from 'jsonc-parser'
import { parse as parseToml, stringify } from 'smol-toml'
import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { UsageError } from '../../console/command.ts'
import { replaceWithBackup, restore } from '../../console/replace-file.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { isOwnProgram, ownProgram } from '../../runtime/installation.ts'
import { askServers } from './ask-servers.ts'
import { at, type ClientFile, readClientFile } from './import/client-file.ts'
import { toConfig } from './import/to-config.ts'
import { loadMcpConfig } from './load-config.ts'
import type { McpValues } from './options.ts'

/** Connects to the servers of a configuration. */
export type Asker = (config: Config, env: Env) => ReturnType<typeof askServers>

type ImportValues = Pick<McpValues, 'config' | 'data-dir' | 'write' | 'undo'>

/** Prints `[mcp]` for the servers in a file of Claude Code, Cursor, VS Code or Codex. */
export async function importServers(
  values: ImportValues,
  [name = '']: readonly string[],
  ask: Asker = askServers,
): Promise<number> {
  const file = resolve(name)
  if (values.undo) {
    restore(file, (text, before) => text === rewritten(file, before ?? '', text))
    process.stderr.write(`${name} is as it was.\n`)
    return EXIT.ok
  }
  const text = readFileSync(file, 'utf8')
  const client = readClientFile(text, file.endsWith('.toml'))
  const { toml, warnings } = toConfig(client.servers)
  for (const warning of warnings) process.stderr.write(`haversack: ${warning}\n`)
  if (toml === '') throw new Error(`${name} has no server to import`)
  if (!values.write) {
    process.stdout.write(toml)
    return EXIT.ok
  }
  if (values.config === undefined) throw new UsageError('import --write needs --config FILE')
  const config = resolve(values.config)
  const after = withGateway(text, client, gatewayAt(config))
  keepServers(config, toml)
  await connectAll(values, toml, ask)
  replaceWithBackup(file, text, after)
  process.stderr.write(`${name} starts the gateway now; --undo puts it back.\n`)
  return EXIT.ok
}

function gatewayAt(config: string, command = ownProgram()) {
  return { command, args: ['mcp', '--config', config] }
}

/** The client has nothing but the gateway afterwards. @throws Error if a server cannot be used */
async function connectAll(values: ImportValues, toml: string, ask: Asker): Promise<void> {
  const { config, env } = loadMcpConfig(values)
  const imported = at(parseToml(toml), ['mcp', 'servers']) as Record<string, unknown>
  const servers = Object.entries(config.mcp.servers).filter(([name]) => name in imported)
  const mcp = { ...config.mcp, servers: Object.fromEntries(servers) }
  const asked = await ask({ ...config, mcp }, env)
  const failures = asked.flatMap(({ server, found }) =>
    found.failure === null ? [] : `${server.name}: ${found.failure}`,
  )
  if (failures.length === 0) return
  const why = 'nothing is replaced, since not all servers connect (haversack mcp check)'
  throw new Error(`${why}: ${failures.join('; ')}`)
}

/** What `--write` made of the file, with the configuration that it names now. */
function rewritten(file: string, before: string, now: string): string | null {
  const isToml = file.endsWith('.toml')
  const { servers } = readClientFile(now, isToml)
  const { command, args } = servers[0]?.terms ?? {}
  const config = Array.isArray(args) ? String(args[2]) : ''
  const gateway = gatewayAt(config, isOwnProgram(command) ? String(command) : undefined)
  return withGateway(before, readClientFile(before, isToml), gateway)
}

/** Writes the configuration if there is none; else it must have the servers already. */
function keepServers(config: string, toml: string): void {
  if (!existsSync(config)) {
    writeFileSync(config, toml, { flag: 'wx', mode: 0o600 })
    return
  }
  const has = at(parseToml(readFileSync(config, 'utf8')), ['mcp', 'servers']) ?? {}
  const wanted = at(parseToml(toml), ['mcp', 'servers']) as Record<string, unknown>
  const missing = Object.keys(wanted).filter(
    name =>
      !isDeepStrictEqual(
        at(has, [name, 'command']) ?? at(has, [name, 'url']),
        at(wanted, [name, 'command']) ?? at(wanted, [name, 'url']),
      ),
  )
  if (missing.length === 0) return
  throw new Error(
    `add to ${config} first what import prints without --write: ${missing.join(', ')}`,
  )
}

/** The name of the gateway in a client's file. */
const GATEWAY = 'haversack'

/** How a client starts the gateway. */
interface GatewayEntry {
  readonly command: string
  readonly args: readonly string[]
}

/**
 * The text with the gateway in the place of all servers; comments elsewhere stay.
 * @throws Error if that cannot be shown to change nothing else
 */
function withGateway(text: string, client: ClientFile, entry: GatewayEntry): string {
  if (client.syntax === 'toml') return tomlWithGateway(text, entry)
  const formattingOptions = {
    insertSpaces: true,
    tabSize: 2,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }
  return client.places.reduce((changed, place) => {
    const names = Object.keys(at(parse(changed, [], { allowTrailingComma: true }), place) as object)
    const set = (before: string, name: string, value: unknown) =>
      applyEdits(before, modify(before, [...place, name], value, { formattingOptions }))
    const emptied = names.reduce((before, name) => set(before, name, undefined), changed)
    return set(emptied, GATEWAY, entry)
  }, text)
}

/** Whole tables are removed, line by line. The result is read again, and compared. */
function tomlWithGateway(text: string, entry: GatewayEntry): string {
  let isServer = false
  const kept = text.split('\n').filter(line => {
    const header = /^\s*\[+\s*([^\]]*?)\s*\]+/.exec(line)?.[1]
    if (header !== undefined) isServer = /^"?mcp_servers"?\s*(?:\.|$)/.test(header)
    return !isServer
  })
  const added = stringify({ mcp_servers: { [GATEWAY]: entry } })
  const changed = `${kept.join('\n').trimEnd()}\n\n${added}\n`
  const expected = { ...parseToml(text), mcp_servers: { [GATEWAY]: { ...entry } } }
  if (!isDeepStrictEqual(plain(parseToml(changed)), plain(expected))) {
    throw new Error('its servers are not in tables of their own: change it by hand')
  }
  return changed
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
