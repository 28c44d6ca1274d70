import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AgentClient } from './clients.ts'
import { type ModelRequest, toolsOf } from './model.ts'
import type { Step } from './project.ts'
import { type ArrivedRequest, startScriptedVendor } from './scripted-vendor.ts'
import { FORMS_SERVER, giveServer } from './shown-forms.ts'

const COMMAND_LINE = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
/** Until the gateway is there, on a busy machine too. */
const STARTS = { command: 'sleep 12' }
const LIMIT_MS = 180_000
const run = promisify(execFile)

type Command = readonly [string, ...string[]]

interface Told {
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly script: readonly Step[]
}

/** Runs an agent to its end. Returns the texts of the requests that its vendor got. */
async function requestsOf(
  client: AgentClient,
  commandAt: (vendorUrl: string) => Command,
  { home, env, script }: Told,
): Promise<readonly string[]> {
  const vendor = await startScriptedVendor(script)
  try {
    const all = { HOME: home, ...client.prepare(home, vendor.url), ...env }
    const [file, ...args] = commandAt(vendor.url)
    const running = run(file, args, { cwd: home, env: all, timeout: LIMIT_MS })
    running.child.stdin?.end()
    await running.catch(() => {})
    return vendor.requests.map(({ body }: ArrivedRequest) => Buffer.from(body).toString())
  } finally {
    await vendor.close()
  }
}

/** Whether the request after a step has a text more often than the one before it. */
function isAnswered(requests: readonly string[], step: number, text: string): string {
  const [before, after] = [requests[step], requests[step + 1]].map(
    each => (each?.split(text).length ?? 1) - 1,
  )
  return after! > before! ? 'yes' : 'no'
}

const ours = (name: string, args: object) => ({ tool: `mcp__forms__${name}`, args })

/** What a model does with the tools of the gateway, and what each answer must have. */
const SEARCHED: readonly (readonly [Step, string])[] = [
  [ours('find_tools', { query: 'form' }), 'Tells the form of an answer.'],
  [ours('call_read_tool', { name: 'form_free', arguments: {} }), 'given-as-'],
  [ours('call_tool', { name: 'form_kept', arguments: {} }), 'given-as-'],
  [ours('call_read_tool', { name: 'no_such_tool', arguments: {} }), 'There is no tool'],
]

/** Servers behind `haversack mcp` with search: what the agent lists of them, and what came back. */
export async function searchedTools(
  client: AgentClient,
  [file, ...args]: Command,
  path: string,
): Promise<readonly string[]> {
  const home = mkdtempSync(join(tmpdir(), 'haversack-search-'))
  try {
    const config = join(home, 'haversack.toml')
    const [command, ...rest] = [...FORMS_SERVER, join(home, 'clients.txt')]
    const server = `command = ${JSON.stringify(command)}\nargs = ${JSON.stringify(rest)}\n`
    const table = `[mcp.servers.one]\ntrusted = true\n${server}`
    writeFileSync(config, `[mcp.search]\nmode = "always"\n\n${table}`)
    const gateway = ['mcp', '--config', config, '--data-dir', join(home, 'data')]
    const names = SEARCHED.map(([step]) => ('tool' in step ? step.tool : ''))
    const requests = await requestsOf(
      client,
      () => [
        file,
        ...args,
        ...giveServer(client, home, [process.execPath, COMMAND_LINE, ...gateway], names),
      ],
      {
        home,
        env: { PATH: path, ENABLE_TOOL_SEARCH: 'false' },
        script: [STARTS, ...SEARCHED.map(([step]) => step)],
      },
    )
    const listed = toolsOf(JSON.parse(requests[1] ?? '{}') as ModelRequest)
    return [
      listed.filter(name => name.includes('forms')).length.toString(),
      ...SEARCHED.map(([, text], at) => isAnswered(requests, at + 1, text)),
    ]
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

const DEFERRED = 'Workflow'
/** Conversations until tools that were not called are deferred. */
const CONVERSATIONS = 5
const LOOKS: readonly Step[] = [{ command: 'echo a' }]
const LOADS: readonly Step[] = [
  { tool: 'ToolSearch', args: { query: `select:${DEFERRED}`, max_results: 5 } },
  { tool: DEFERRED, args: { script: 'return 1' } },
]

/**
 * Claude Code behind `run` with `defer`, which did not call `Workflow` in five conversations: then
 * it loads it by its name and calls it.
 */
export async function deferredTool(
  client: AgentClient,
  [file, ...args]: Command,
  path: string,
): Promise<readonly string[]> {
  const home = mkdtempSync(join(tmpdir(), 'haversack-defer-'))
  const data = join(home, 'data')
  mkdirSync(data)
  const pipeline = join(home, 'pipeline.toml')
  const env = { PATH: path, ENABLE_TOOL_SEARCH: 'true', HAVERSACK_PIPELINE_CONFIG: pipeline }
  try {
    /** Conversations that begin alike count as one. */
    const converse = (script: readonly Step[], number: number) =>
      requestsOf(
        client,
        vendorUrl => {
          const hosts = `hosts = ["${new URL(vendorUrl).host}"]`
          const text = `[cache_align]\ndefer = true\n\n[cache_life]\n${hosts}\n`
          writeFileSync(pipeline, text)
          const asked = args.map((each, at) => (args[at - 1] === '-p' ? `${each} ${number}` : each))
          const own = [COMMAND_LINE, 'run', '--data-dir', data, '--', file, ...asked]
          return [process.execPath, ...own, '--allowedTools', 'Bash', 'ToolSearch', DEFERRED]
        },
        { home, env, script },
      )
    for (let each = 0; each < CONVERSATIONS; each++) await converse(LOOKS, each)
    const requests = await converse(LOADS, CONVERSATIONS)
    const isDeferred = requests[0]?.includes('"defer_loading":true') === true
    return [
      isDeferred ? 'yes' : 'no',
      isAnswered(requests, 0, `"tool_name":"${DEFERRED}"`),
      isAnswered(requests, 1, '"type":"tool_result"'),
    ]
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}
