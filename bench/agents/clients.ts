import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RouteName } from '../../src/core/dialects/lookup.ts'

/** An agent as its users start it. */
export interface AgentClient {
  readonly name: string
  /** A program that must be there, by the option that names it; `null`: a file of `docs`. */
  readonly program: 'claude' | 'codex' | 'opencode' | 'gemini' | 'qwen' | null
  readonly route: RouteName
  readonly args: readonly string[]
  /** Its results become smaller by a hook, and its requests go to the vendor. */
  readonly hasHook?: true
  /**
   * Points it at a vendor, by files at its home or by variables of its environment, which are
   * returned.
   */
  prepare(home: string, vendorUrl: string): Readonly<Record<string, string>>
}

const PROMPT = 'Look at the project.'
const CODEX_ARGS = [
  ...['exec', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check'],
  PROMPT,
]

const CLAUDE_CODE: AgentClient = {
  name: 'Claude Code',
  program: 'claude',
  route: 'anthropic_messages',
  args: ['-p', PROMPT, '--allowedTools', 'Bash Read Grep'],
  prepare: (_, vendorUrl) => ({
    ANTHROPIC_BASE_URL: vendorUrl,
    ANTHROPIC_API_KEY: 'sk-ant-none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
}

export const CLIENTS: readonly AgentClient[] = [
  CLAUDE_CODE,
  { ...CLAUDE_CODE, name: 'Claude Code, hook', hasHook: true },
  {
    name: 'OpenCode',
    program: 'opencode',
    route: 'anthropic_messages',
    args: ['run', PROMPT],
    prepare(home, vendorUrl) {
      const folder = join(home, '.config', 'opencode')
      mkdirSync(folder, { recursive: true })
      const settings = {
        ...{ model: 'anthropic/claude-sonnet-4-5', autoupdate: false, share: 'disabled' },
        permission: 'allow',
      }
      writeFileSync(join(folder, 'opencode.json'), JSON.stringify(settings))
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
  },
  {
    name: 'Codex, API key',
    program: 'codex',
    route: 'openai_responses',
    args: CODEX_ARGS,
    prepare(home, vendorUrl) {
      configure(home, { openai_base_url: `${vendorUrl}/v1` })
      return { OPENAI_API_KEY: 'sk-none' }
    },
  },
  {
    name: 'Codex, ChatGPT login',
    program: 'codex',
    route: 'openai_responses',
    args: CODEX_ARGS,
    prepare(home, vendorUrl) {
      // Behind `/backend-api`, where its vendor has it, Codex would ask about the account first.
      const openai_base_url = `${vendorUrl}/codex`
      configure(home, { openai_base_url, chatgpt_base_url: `${vendorUrl}/backend-api` })
      logIn(home)
      return {}
    },
  },
  {
    name: 'Gemini CLI',
    program: 'gemini',
    route: 'gemini_generate',
    // With a model of its own choice it asks another one first which to take.
    args: ['--yolo', '--skip-trust', '-m', 'gemini-2.5-pro', '-p', PROMPT],
    prepare(home, vendorUrl) {
      const auth = { selectedType: 'gemini-api-key' }
      writeSettings(join(home, '.gemini'), { security: { auth }, ...UNREPORTED })
      return { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: vendorUrl }
    },
  },
  {
    name: 'Qwen Code',
    program: 'qwen',
    route: 'openai_chat',
    args: ['--yolo', '-p', PROMPT],
    prepare(home, vendorUrl) {
      // Its memory is a second conversation.
      const memory = { enableManagedAutoMemory: false }
      // In a terminal of its own it loses the end of what a short command writes.
      const tools = { shell: { enableInteractiveShell: false } }
      writeSettings(join(home, '.qwen'), { memory, tools, ...UNREPORTED })
      return { OPENAI_API_KEY: 'none', OPENAI_MODEL: 'm', OPENAI_BASE_URL: `${vendorUrl}/v1` }
    },
  },
]

/** Nothing is told to the makers of the programs. */
const UNREPORTED = { privacy: { usageStatisticsEnabled: false } }

function writeSettings(folder: string, settings: object): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings))
}

function configure(home: string, settings: Readonly<Record<string, string>>): void {
  mkdirSync(join(home, '.codex'), { recursive: true })
  const lines = Object.entries(settings).map(([key, value]) => `${key} = "${value}"\n`)
  writeFileSync(join(home, '.codex', 'config.toml'), lines.join(''))
}

/** A login that no server has seen. */
function logIn(home: string): void {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    exp: 4_102_444_800,
    'https://api.openai.com/auth': { chatgpt_account_id: 'a', chatgpt_plan_type: 'plus' },
  }
  const token = [part({ alg: 'none' }), part(claims), 'x'].join('.')
  const tokens = { id_token: token, access_token: token, refresh_token: 'x', account_id: 'a' }
  const login = { auth_mode: 'chatgpt', tokens, last_refresh: new Date().toISOString() }
  writeFileSync(join(home, '.codex', 'auth.json'), JSON.stringify(login), { mode: 0o600 })
}

const example = (name: string, file: string, more: Partial<AgentClient> = {}): AgentClient => ({
  ...{ name, program: null, route: 'openai_chat' },
  args: [file.endsWith('.py') ? 'python3' : process.execPath, EXAMPLES_FOLDER + file],
  prepare: (_, vendorUrl) => ({ OPENAI_API_KEY: 'none', OPENAI_BASE_URL: `${vendorUrl}/v1` }),
  ...more,
})

const EXAMPLES_FOLDER = fileURLToPath(new URL('../../docs/examples/', import.meta.url))

/** Agents of one tool, as the documents have them. */
export const EXAMPLES: readonly AgentClient[] = [
  example('Anthropic SDK', 'anthropic-sdk.mjs', {
    route: 'anthropic_messages',
    prepare: (_, url) => ({ ANTHROPIC_API_KEY: 'none', ANTHROPIC_BASE_URL: url }),
  }),
  example('Google Gen AI SDK', 'google-genai.mjs', {
    route: 'gemini_generate',
    prepare: (_, url) => ({ GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: url }),
  }),
  example('AI SDK', 'ai-sdk.mjs'),
  example('LangChain JS', 'langchain.mjs'),
  example('OpenAI Agents SDK', 'openai-agents.mjs'),
  example('Python, no packages', 'agent.py'),
]
