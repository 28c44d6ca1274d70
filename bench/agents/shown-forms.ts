import { execFile } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { clientProfile } from '../../src/mcp/client/client-profile.ts'
import type { AgentClient } from './clients.ts'
import { type ArrivedRequest, startScriptedVendor } from './scripted-vendor.ts'

/** Which form of a result with both an agent shows its model, and what we take it for. */
export interface ShownForms {
  /** The agent's name as it tells servers; empty if it reached none. */
  readonly clientName: string
  /** Without a declared schema, and with one. */
  readonly shown: readonly (Form | 'none')[]
  readonly profile: Form
}

type Form = 'text' | 'structured' | 'both'

/** Takes the name of a file more. */
export const FORMS_SERVER = [
  process.execPath,
  fileURLToPath(new URL('both-forms-server.ts', import.meta.url)),
]
const TOOLS = ['mcp__forms__form_free', 'mcp__forms__form_declared']
/** Until the server is there, for agents that do not wait for it. */
const PATIENCE = { command: 'sleep 3' }
const LIMIT_MS = 120_000
const run = promisify(execFile)

/** Gives an agent the server `forms`. @returns arguments for its command line */
export function giveServer(
  { program }: AgentClient,
  home: string,
  command: readonly string[],
  tools: readonly string[],
): readonly string[] {
  return GIVE[program ?? '']?.(home, command, tools) ?? []
}

const GIVE: Readonly<
  Record<
    string,
    (home: string, command: readonly string[], tools: readonly string[]) => readonly string[]
  >
> = {
  claude(home, [command, ...args], tools) {
    const file = join(home, 'servers.json')
    writeFileSync(file, JSON.stringify({ mcpServers: { forms: { command, args } } }))
    const allowed = ['Bash', ...tools].join(' ')
    return ['--mcp-config', file, '--strict-mcp-config', '--allowedTools', allowed]
  },
  codex(home, [command, ...args]) {
    const lines = ['[mcp_servers.forms]', `command = ${JSON.stringify(command)}`]
    appendFileSync(
      join(home, '.codex', 'config.toml'),
      [...lines, `args = ${JSON.stringify(args)}`, ''].join('\n'),
    )
    return []
  },
  opencode(home, command) {
    const forms = { type: 'local', command, enabled: true }
    change(join(home, '.config', 'opencode', 'opencode.json'), { mcp: { forms } })
    return []
  },
  gemini: (home, command) => inSettings(join(home, '.gemini'), command),
  qwen: (home, command) => inSettings(join(home, '.qwen'), command),
}

function inSettings(folder: string, [command, ...args]: readonly string[]): readonly string[] {
  change(join(folder, 'settings.json'), { mcpServers: { forms: { command, args, trust: true } } })
  return []
}

function change(file: string, more: object): void {
  const known = JSON.parse(readFileSync(file, 'utf8')) as object
  writeFileSync(file, JSON.stringify({ ...known, ...more }))
}

/** Lets an agent call both tools of a server directly, without the gateway. */
export async function shownForms(
  client: AgentClient,
  [file, ...args]: readonly [string, ...string[]],
  path: string,
): Promise<ShownForms> {
  const home = mkdtempSync(join(tmpdir(), 'haversack-forms-'))
  const vendor = await startScriptedVendor([PATIENCE, ...TOOLS.map(tool => ({ tool, args: {} }))])
  try {
    const names = join(home, 'clients.txt')
    writeFileSync(names, '')
    const env = { PATH: path, HOME: home, ...client.prepare(home, vendor.url), ...OPEN }
    const more = giveServer(client, home, [...FORMS_SERVER, names], TOOLS)
    const running = run(file, [...args, ...more], { cwd: home, env, timeout: LIMIT_MS })
    running.child.stdin?.end()
    await running.catch(() => {})
    const [clientName = ''] = readFileSync(names, 'utf8').split('\n')
    const { showsStructured } = clientProfile(clientName)
    return {
      clientName,
      shown: formsIn(vendor.requests),
      profile: showsStructured ? 'structured' : 'text',
    }
  } finally {
    await vendor.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Tools are there from the start, not only once they were searched for. */
const OPEN = { ENABLE_TOOL_SEARCH: 'false' }

/** What each request shows more than the one before. */
function formsIn(requests: readonly ArrivedRequest[]): readonly (Form | 'none')[] {
  const counts = requests.map(({ body }) => {
    const text = Buffer.from(body).toString()
    return ['given-as-text', 'given-as-structured'].map(mark => text.split(mark).length - 1)
  })
  return TOOLS.map((_, at) => {
    const [before, after] = [counts[at + 1], counts[at + 2]]
    const [isText, isStructured] = [0, 1].map(form => (after?.[form] ?? 0) > (before?.[form] ?? 0))
    if (isText && isStructured) return 'both'
    if (isText) return 'text'
    return isStructured ? 'structured' : 'none'
  })
}
