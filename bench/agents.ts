import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { RouteName } from '../src/core/dialects/lookup.ts'
import { createLocalContext } from '../src/library/local-context.ts'
import { createFollower } from '../test/support/turns/follow-messages.ts'
import { type AgentClient, CLIENTS, EXAMPLES } from './agents/clients.ts'
import { type HookService, startHookService } from './agents/hook-service.ts'
import { makeProject, ORDERS, type Step } from './agents/project.ts'
import { type ArrivedRequest, startScriptedVendor } from './agents/scripted-vendor.ts'
import { shownForms } from './agents/shown-forms.ts'
import { deferredTool, searchedTools } from './agents/tools-on-demand.ts'
import { markdownTable, writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- agents [--claude PROGRAM] [--codex PROGRAM] [--opencode PROGRAM]
 *   [--gemini PROGRAM] [--qwen PROGRAM] [--only results,tools] [--write]
 *
 * Real agents as their users start them, with a vendor of this machine whose model follows a
 * script: directly, and behind `haversack run`. What arrives at the vendor, and whether each
 * request begins as the one before; then the examples of the documents in the same way. In the end
 * which form of a result of MCP each agent shows, against what the gateway takes it for, and how
 * each finds and calls tools on demand. With `--only tools` that alone. The programs are not among
 * the dependencies: npm has them as `@anthropic-ai/claude-code`, `@openai/codex`, `opencode-ai`,
 * `@google/gemini-cli` and `@qwen-code/qwen-code`.
 */
const options = readOptions({
  ...{ claude: '', codex: '', opencode: '', gemini: '', qwen: '' },
  only: ['results', 'tools'],
  write: false,
})

const LIMIT_MS = 300_000
/** npm puts our own Node first, which not every agent runs on. */
const PATH_OF_USERS = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter(folder => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter)
const COMMAND_LINE = new URL('../src/cli.ts', import.meta.url).pathname
const run = promisify(execFile)
const context = createLocalContext()
const count = (text: string) => context.counters.get('o200k_base').count(text)

interface Ran {
  readonly answer: string
  readonly requests: readonly ArrivedRequest[]
  readonly handshakes: number
}

/** One conversation; with `before`, behind a command that is given the agent's. */
async function converse(
  { client, command, project, script }: Subject,
  before: readonly string[],
  hasHook = false,
): Promise<Ran> {
  const home = mkdtempSync(join(tmpdir(), 'haversack-agent-'))
  const vendor = await startScriptedVendor(script)
  let hooked: HookService | undefined
  try {
    hooked = hasHook ? await startHookService(home) : undefined
    const programs = hooked === undefined ? [] : [hooked.programs]
    const env = {
      ...{ PATH: [...programs, PATH_OF_USERS].join(delimiter), HOME: home },
      ...client.prepare(home, vendor.url),
    }
    const [file, ...args] = [...before, ...command]
    const running = run(file!, args, { cwd: project, env, timeout: LIMIT_MS })
    running.child.stdin?.end()
    const { stdout } = await running
    const { requests, handshakes } = vendor
    return { answer: stdout.trim().split('\n').at(-1) ?? '', requests, handshakes }
  } finally {
    await hooked?.close()
    await vendor.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

interface Subject {
  readonly client: AgentClient
  readonly command: readonly [string, ...string[]]
  readonly version: string
  readonly project: string
  readonly script: readonly Step[]
}

/** Tokens of the results of the last request, and requests that do not begin as the one before. */
function follow(requests: readonly ArrivedRequest[], route: RouteName) {
  const follower = createFollower(route, count)
  let [tokens, changes] = [0, 0]
  for (const { body } of requests) {
    const { scanned, changedAt } = follower.advance(body)
    if (changedAt !== null) changes++
    tokens = scanned.results.reduce((sum, result) => sum + count(result.text()), 0)
  }
  return { tokens, changes }
}

/** Calls of the tool that fetches originals, in the whole conversation. */
function retrievedIn(requests: readonly ArrivedRequest[]): number {
  const text = Buffer.from(requests.at(-1)?.body ?? []).toString()
  return [...text.matchAll(/"name":"[^"]*haversack_retrieve","(?:input|arguments)"/g)].length
}

/** What `run --elide` makes of the conversation. */
async function reportElided(subject: Subject, plainTokens: number): Promise<readonly string[]> {
  const { client } = subject
  if (client.hasHook || client.route === 'gemini_generate') return ['', '']
  const before = [process.execPath, COMMAND_LINE, 'run', '--elide', '--']
  const { requests } = await converse(subject, before)
  const { tokens } = follow(requests, client.route)
  const saved = (100 * (1 - tokens / plainTokens)).toFixed(1)
  return [`${tokens.toLocaleString('en-US')} (${saved} %)`, String(retrievedIn(requests))]
}

async function report(subject: Subject): Promise<readonly string[]> {
  const { client, version } = subject
  const direct = await converse(subject, [])
  const behind = client.hasHook
    ? await converse(subject, [], true)
    : await converse(subject, [process.execPath, COMMAND_LINE, 'run', '--'])
  const [plain, sent] = [direct, behind].map(each => follow(each.requests, client.route))
  const saved = 1 - sent!.tokens / plain!.tokens
  return [
    client.name,
    version,
    `${direct.requests.length} → ${behind.requests.length}`,
    `${direct.handshakes} → ${behind.handshakes}`,
    behind.requests.every(each => each.isCompressed) ? 'yes' : 'no',
    `${plain!.tokens.toLocaleString('en-US')} → ${sent!.tokens.toLocaleString('en-US')}`,
    `${(100 * saved).toFixed(1)} %`,
    `${plain!.changes} → ${sent!.changes}`,
    direct.answer === behind.answer ? 'yes' : 'no',
    ...(await reportElided(subject, plain!.tokens)),
  ]
}

const folder = mkdtempSync(join(tmpdir(), 'haversack-project-'))
try {
  const rows: (readonly string[])[] = []
  const forms: (readonly string[])[] = []
  const found: (readonly string[])[] = []
  const deferred: (readonly string[])[] = []
  const isWanted = (part: (typeof options.only)[number]) => options.only.includes(part)
  for (const client of CLIENTS) {
    const program = client.program === null ? '' : options[client.program]
    if (program === '') continue
    const project = join(folder, client.program ?? '')
    mkdirSync(project, { recursive: true })
    const script = makeProject(project)
    const { stdout } = await run(resolve(program), ['--version'])
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? ''
    const command = [resolve(program), ...client.args] as const
    if (isWanted('results')) rows.push(await report({ client, command, version, project, script }))
    if (client.hasHook) continue
    if (isWanted('tools')) {
      found.push([client.name, version, ...(await searchedTools(client, command, PATH_OF_USERS))])
      if (client.program === 'claude') {
        deferred.push([client.name, ...(await deferredTool(client, command, PATH_OF_USERS))])
      }
    }
    if (!isWanted('results')) continue
    const { clientName, shown, profile } = await shownForms(client, command, PATH_OF_USERS)
    forms.push([client.name, version, clientName, ...shown, profile])
  }
  for (const client of isWanted('results') ? EXAMPLES : []) {
    const command = client.args as readonly [string, ...string[]]
    rows.push(await report({ client, command, version: '', project: folder, script: ORDERS }))
  }
  const header = [
    ...['agent', 'version', 'requests', 'WebSocket handshakes', 'compressed'],
    ...['tokens of results', 'saved', 'beginnings that changed', 'same last words'],
    ...['with --elide', 'fetched back'],
  ]
  const table = markdownTable(header, rows)
  const title =
    'Directly → behind `haversack run`, or with the hook; tokens (o200k_base) of the tool ' +
    'results in the last request of one conversation of six steps.'
  const formsTable = markdownTable(
    ['agent', 'version', 'as a client', 'shown', 'with a schema', 'profile'],
    forms,
  )
  const toolsTable = markdownTable(
    ['agent', 'version', 'tools listed', 'found', 'read', 'written', 'told of none'],
    found,
  )
  const deferredTable = markdownTable(['agent', 'deferred', 'loaded by name', 'called'], deferred)
  if (options.write && isWanted('tools')) {
    writeSection('agents', `${toolsTable}\n\n${deferredTable}`, 'tools on demand')
  }
  if (options.write && isWanted('results')) {
    writeSection('agents', `${title}\n\n${table}`)
    writeSection('agents', formsTable, 'agent forms')
  }
  console.log([table, formsTable, toolsTable, deferredTable].join('\n\n'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
