import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { RouteName } from '../src/core/dialects/lookup.ts'
import { createLocalContext } from '../src/library/local-context.ts'
import { createFollower } from '../test/support/turns/follow-messages.ts'
import { CLIENTS } from './agents/clients.ts'
import { searchedTools, shownForms } from './agents/mcp.ts'
import { makeProject, type Step } from './agents/project.ts'
import { HAVERSACK, runAgent, type Subject } from './agents/run-agent.ts'
import { tableOf, writeSection } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- agents [--claude PROGRAM] [--codex PROGRAM] [--opencode PROGRAM]
 *   [--gemini PROGRAM] [--qwen PROGRAM] [--only results,tools] [--write]
 *
 * Real agents as their users start them, with a vendor of this machine whose model follows a
 * script. `results`: what arrives at the vendor, directly and behind `haversack run`, and whether
 * each request begins as the one before. `tools`: which form of a result of MCP each agent shows,
 * against what the gateway takes it for, and how it finds and calls tools on demand. The programs
 * are not among the dependencies: npm has them as `@anthropic-ai/claude-code`, `@openai/codex`,
 * `opencode-ai`, `@google/gemini-cli` and `@qwen-code/qwen-code`.
 */
const options = readOptions({
  ...{ claude: '', codex: '', opencode: '', gemini: '', qwen: '' },
  only: ['results', 'tools'],
  write: false,
})
const { counters } = createLocalContext()
const count = (text: string) => counters.get('o200k_base').count(text)

/** One conversation. @throws Error if the agent fails */
async function converse(subject: Subject, start: Parameters<typeof runAgent>[1]) {
  const { answer, requests, failure } = await runAgent(subject, start)
  if (failure !== null) throw failure
  return { answer, requests, ...follow(requests, subject.client.route) }
}

/** Tokens of the results of the last request, and requests that do not begin as the one before. */
function follow(requests: readonly Uint8Array[], route: RouteName) {
  const follower = createFollower(route, count)
  let [tokens, changes] = [0, 0]
  for (const body of requests) {
    const { scanned, changedAt } = follower.advance(body)
    if (changedAt !== null) changes++
    tokens = scanned.results.reduce((sum, result) => sum + count(result.text()), 0)
  }
  return { tokens, changes }
}

/** Calls of the tool that fetches originals, in the whole conversation. */
function retrievedIn(requests: readonly Uint8Array[]): number {
  const text = Buffer.from(requests.at(-1) ?? []).toString()
  return [...text.matchAll(/"name":"[^"]*haversack_retrieve","(?:input|arguments)"/g)].length
}

async function report(
  subject: Subject,
  start: { readonly cwd: string; readonly script: readonly Step[] },
): Promise<object> {
  const { hasHook = false, route } = subject.client
  const behind = (...flags: readonly string[]) => [...HAVERSACK, 'run', ...flags, '--']
  const direct = await converse(subject, start)
  const sent = await converse(subject, {
    ...start,
    ...(hasHook ? { hasHook } : { before: behind() }),
  })
  const saved = (tokens: number) => `${(100 * (1 - tokens / direct.tokens)).toFixed(1)} %`
  const inWords = (tokens: number) => tokens.toLocaleString('en-US')
  const isElided = !hasHook && route !== 'gemini_generate'
  const elided = isElided ? await converse(subject, { ...start, before: behind('--elide') }) : null
  return {
    requests: `${direct.requests.length} → ${sent.requests.length}`,
    'tokens of results': `${inWords(direct.tokens)} → ${inWords(sent.tokens)}`,
    saved: saved(sent.tokens),
    'beginnings that changed': `${direct.changes} → ${sent.changes}`,
    'same last words': direct.answer === sent.answer ? 'yes' : 'no',
    'with --elide': elided === null ? '' : `${inWords(elided.tokens)} (${saved(elided.tokens)})`,
    'fetched back': elided === null ? '' : retrievedIn(elided.requests),
  }
}

const RESULTS_TITLE =
  'Directly → behind `haversack run`, or with the hook; tokens (o200k_base) of the tool results ' +
  'in the last request of one conversation of six steps.'
const SEARCH_TITLE =
  'Behind `haversack mcp` with `[mcp.search] mode = "always"`; the first listed tools are ours.'

const folder = mkdtempSync(join(tmpdir(), 'haversack-project-'))
try {
  const results: object[] = []
  const [forms, found]: [object[], object[]] = [[], []]
  const [hasResults, hasTools] = [options.only.includes('results'), options.only.includes('tools')]
  for (const client of CLIENTS) {
    const program = options[client.program]
    if (program === '') continue
    const cwd = join(folder, client.program)
    mkdirSync(cwd, { recursive: true })
    const start = { cwd, script: makeProject(cwd) }
    const { stdout } = await promisify(execFile)(resolve(program), ['--version'])
    const version = /\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? ''
    const subject = { client, command: [resolve(program), ...client.args] }
    const about = { agent: client.name, version }
    if (hasResults) results.push({ ...about, ...(await report(subject, start)) })
    if (!hasTools || client.hasHook) continue
    forms.push({ ...about, ...(await shownForms(subject)) })
    found.push({ ...about, ...(await searchedTools(subject)) })
  }
  const ofResults = `${RESULTS_TITLE}\n\n${tableOf(results)}`
  const ofTools = [tableOf(forms), SEARCH_TITLE, tableOf(found)].join('\n\n')
  if (options.write && hasResults) writeSection('agents', ofResults)
  if (options.write && hasTools) writeSection('agents', ofTools, 'agents tools')
  console.log(`${ofResults}\n\n${ofTools}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
