import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RouteName } from '../../src/core/messages/scan-request.ts'

/** An agent as its users start it. */
export interface AgentClient {
  readonly name: string
  readonly program: 'claude' | 'codex'
  readonly route: RouteName
  /** The variable that names its base URL, also for `haversack run`. */
  readonly variable: 'ANTHROPIC_BASE_URL' | 'OPENAI_BASE_URL'
  /** What its base URL has behind the vendor's host. */
  readonly basePath: string
  /** Its environment beside that. */
  environment(home: string): Readonly<Record<string, string>>
  /** Its command line for a shell, where the variable has the base URL. */
  commandLine(program: string): string
  /** Whatever must be at its home. */
  prepare(home: string, vendorUrl: string): void
}

const PROMPT = '"Look at the project."'

export const CLIENTS: readonly AgentClient[] = [
  {
    name: 'Claude Code',
    program: 'claude',
    route: 'anthropic_messages',
    variable: 'ANTHROPIC_BASE_URL',
    basePath: '',
    environment: () => ({
      ANTHROPIC_API_KEY: 'sk-ant-none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    commandLine: program => `${program} -p ${PROMPT} --allowedTools "Bash Read Grep"`,
    prepare: () => undefined,
  },
  {
    name: 'Codex, API key',
    program: 'codex',
    route: 'openai_responses',
    variable: 'OPENAI_BASE_URL',
    basePath: '/v1',
    environment: () => ({ OPENAI_API_KEY: 'sk-none' }),
    commandLine: program => codex(program),
    prepare: () => undefined,
  },
  {
    name: 'Codex, ChatGPT login',
    program: 'codex',
    route: 'openai_responses',
    variable: 'OPENAI_BASE_URL',
    // Behind `/backend-api`, where its vendor has it, Codex would ask about the account first.
    basePath: '/codex',
    environment: () => ({}),
    commandLine: program => codex(program),
    prepare: logIn,
  },
]

function codex(program: string): string {
  const flags = '--dangerously-bypass-approvals-and-sandbox --skip-git-repo-check'
  return `${program} exec -c openai_base_url="$OPENAI_BASE_URL" ${flags} ${PROMPT} </dev/null`
}

/** A login that no server has seen; what else Codex asks of the vendor goes there too. */
function logIn(home: string, vendorUrl: string): void {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    exp: 4_102_444_800,
    'https://api.openai.com/auth': { chatgpt_account_id: 'a', chatgpt_plan_type: 'plus' },
  }
  const token = [part({ alg: 'none' }), part(claims), 'x'].join('.')
  const tokens = { id_token: token, access_token: token, refresh_token: 'x', account_id: 'a' }
  const login = { auth_mode: 'chatgpt', tokens, last_refresh: new Date().toISOString() }
  mkdirSync(join(home, '.codex'), { recursive: true })
  writeFileSync(join(home, '.codex', 'auth.json'), JSON.stringify(login), { mode: 0o600 })
  const settings = `chatgpt_base_url = "${vendorUrl}/backend-api"\n`
  writeFileSync(join(home, '.codex', 'config.toml'), settings)
}
