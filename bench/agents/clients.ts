import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RouteName } from '../../src/core/dialects/lookup.ts'

/** An agent as its users start it. */
export interface AgentClient {
  readonly name: string
  /** The option that names its program. */
  readonly program: 'claude' | 'codex' | 'opencode' | 'gemini' | 'qwen'
  readonly route: RouteName
  readonly args: readonly string[]
  /** Its results become smaller by a hook, and its requests go to the vendor. */
  readonly hasHook?: true
  /**
   * Points it at a vendor, by files at its home or by variables of its environment, which are
   * returned.
   */
  prepare(home: string, vendorUrl: string): Readonly<Record<string, string>>
  /** Gives it the MCP server `forms`; returns arguments for its command line. */
  serve(home: string, command: readonly string[], tools: readonly string[]): readonly string[]
}

const PROMPT = 'Look at the project.'

/** Adds to a file of settings. */
function write(file: string, settings: object): void {
  mkdirSync(dirname(file), { recursive: true })
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {}
  writeFileSync(file, JSON.stringify({ ...known, ...settings }), { mode: 0o600 })
}

/** A server in the settings of Claude Code, Gemini CLI and Qwen Code. */
const serverIn = ([command, ...args]: readonly string[]) => ({
  mcpServers: { forms: { command, args, trust: true } },
})

const CLAUDE_CODE: AgentClient = {
  name: 'Claude Code',
  program: 'claude',
  route: 'anthropic_messages',
  args: ['-p', PROMPT, '--allowedTools', 'Bash Read Grep'],
  prepare: (_, vendorUrl) => ({
    ANTHROPIC_BASE_URL: vendorUrl,
    ANTHROPIC_API_KEY: 'sk-ant-none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // Tools are there from the start, not only once they were searched for.
    ENABLE_TOOL_SEARCH: 'false',
  }),
  serve(home, command, tools) {
    const file = join(home, 'servers.json')
    write(file, serverIn(command))
    const allowed = ['Bash', ...tools].join(' ')
    return ['--mcp-config', file, '--strict-mcp-config', '--allowedTools', allowed]
  },
}

const OPENCODE: AgentClient = {
  name: 'OpenCode',
  program: 'opencode',
  route: 'anthropic_messages',
  args: ['run', PROMPT],
  prepare(home, vendorUrl) {
    const about = { model: 'anthropic/claude-sonnet-4-5', autoupdate: false, share: 'disabled' }
    write(openCodeFile(home), { ...about, permission: 'allow' })
    return {
      // The AI SDK puts `/messages` after its base URL.
      ANTHROPIC_BASE_URL: `${vendorUrl}/v1`,
      ANTHROPIC_API_KEY: 'sk-ant-none',
      // It would fetch them, and wait for ever if it cannot.
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    }
  },
  serve(home, command) {
    write(openCodeFile(home), { mcp: { forms: { type: 'local', command, enabled: true } } })
    return []
  },
}

const openCodeFile = (home: string) => join(home, '.config', 'opencode', 'opencode.json')

const codexFile = (home: string, name: string) => join(home, '.codex', name)

/** @param settings of its configuration file, by the vendor's URL */
function codex(
  login: string,
  settings: (url: string) => Readonly<Record<string, string>>,
  prepare: (home: string) => Readonly<Record<string, string>>,
): AgentClient {
  const flags = ['--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check']
  return {
    name: `Codex, ${login}`,
    program: 'codex',
    route: 'openai_responses',
    args: ['exec', ...flags, PROMPT],
    prepare(home, vendorUrl) {
      const lines = Object.entries(settings(vendorUrl)).map(([key, value]) => `${key} = "${value}"`)
      mkdirSync(codexFile(home, '.'), { recursive: true })
      writeFileSync(codexFile(home, 'config.toml'), `${lines.join('\n')}\n`)
      return prepare(home)
    },
    serve(home, [command, ...args]) {
      const server = `command = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
      appendFileSync(codexFile(home, 'config.toml'), `[mcp_servers.forms]\n${server}`)
      return []
    },
  }
}

/** A login that no server has seen. */
function logIn(home: string): Readonly<Record<string, string>> {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    exp: 4_102_444_800,
    'https://api.openai.com/auth': { chatgpt_account_id: 'a', chatgpt_plan_type: 'plus' },
  }
  const token = [part({ alg: 'none' }), part(claims), 'x'].join('.')
  const tokens = { id_token: token, access_token: token, refresh_token: 'x', account_id: 'a' }
  const login = { auth_mode: 'chatgpt', tokens, last_refresh: new Date().toISOString() }
  write(codexFile(home, 'auth.json'), login)
  return {}
}

/** Nothing is told to the makers of the programs. */
const UNREPORTED = { privacy: { usageStatisticsEnabled: false } }

/** Gemini CLI and Qwen Code, which began as the same program. */
function settled(
  client: Pick<AgentClient, 'name' | 'program' | 'route' | 'args'>,
  settings: object,
  env: (vendorUrl: string) => Readonly<Record<string, string>>,
): AgentClient {
  const file = (home: string) => join(home, `.${client.program}`, 'settings.json')
  return {
    ...client,
    prepare(home, vendorUrl) {
      write(file(home), { ...settings, ...UNREPORTED })
      return env(vendorUrl)
    },
    serve(home, command) {
      write(file(home), serverIn(command))
      return []
    },
  }
}

export const CLIENTS: readonly AgentClient[] = [
  CLAUDE_CODE,
  { ...CLAUDE_CODE, name: 'Claude Code, hook', hasHook: true },
  OPENCODE,
  codex(
    'API key',
    url => ({ openai_base_url: `${url}/v1` }),
    () => ({ OPENAI_API_KEY: 'sk-none' }),
  ),
  // Behind `/backend-api`, where its vendor has it, Codex would ask about the account first.
  codex(
    'ChatGPT login',
    url => ({ openai_base_url: `${url}/codex`, chatgpt_base_url: `${url}/backend-api` }),
    logIn,
  ),
  settled(
    {
      ...{ name: 'Gemini CLI', program: 'gemini', route: 'gemini_generate' },
      // With a model of its own choice it asks another one first which to take.
      args: ['--yolo', '--skip-trust', '-m', 'gemini-2.5-pro', '-p', PROMPT],
    },
    { security: { auth: { selectedType: 'gemini-api-key' } } },
    url => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url }),
  ),
  settled(
    {
      ...{ name: 'Qwen Code', program: 'qwen', route: 'openai_chat' },
      args: ['--yolo', '-p', PROMPT],
    },
    {
      // Its memory is a second conversation.
      memory: { enableManagedAutoMemory: false },
      // In a terminal of its own it loses the end of what a short command writes.
      tools: { shell: { enableInteractiveShell: false } },
    },
    url => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'm' }),
  ),
]
