import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { askServers } from '../../src/cli/mcp/ask-servers.ts'
import { configSchema } from '../../src/config/config.ts'
import { countTokens } from '../../src/lab/bill/play.ts'
import { OUTPUT_PRICE, READ_PRICE, WRITE_PRICES } from '../../src/lab/bill/prices.ts'
import type { BillSession } from '../../src/lab/bill/session.ts'
import {
  connectMemory,
  type ListedTool,
  MemoryServer,
} from '../../test/support/mcp/memory-gateway.ts'
import { npmServerCommand } from '../../test/support/mcp/npm-servers.ts'

export type Definition = ListedTool & { readonly inputSchema?: unknown }
/** Tools by the servers that list them. */
export type Lists = ReadonlyMap<string, readonly Definition[]>

/** What a query that a model wrote was answered by. */
interface Query {
  readonly query: string
  readonly server: string
  readonly tool: string
}

/** GitHub's default sets: context, repositories, issues, pull requests, users. */
const GITHUB_DEFAULT = new Set(
  `get_me get_teams get_team_members create_branch create_or_update_file create_repository
  delete_file fork_repository get_commit get_file_contents get_latest_release get_release_by_tag
  get_tag list_branches list_commits list_releases list_tags push_files search_code
  search_repositories add_issue_comment get_label issue_read issue_write list_issue_types
  list_issues search_issues sub_issue_write assign_copilot_to_issue search_users
  add_comment_to_pending_review create_pull_request list_pull_requests merge_pull_request
  pull_request_read pull_request_review_write request_copilot_review search_pull_requests
  update_pull_request update_pull_request_branch`.split(/\s+/),
)

export function readCorpus(corpus: string) {
  const read = (name: string) => JSON.parse(readFileSync(join(corpus, 'tools', name), 'utf8'))
  const recorded: readonly { server: string; tools: Definition[] }[] = read('livemcpbench.json')
  const github: readonly Definition[] = read('github-mcp-server.json')
  return {
    github,
    recorded: new Map(recorded.map(({ server, tools }) => [server, tools])) as Lists,
    queries: read('queries.json') as readonly Query[],
  }
}

/** What the servers of npm list that the tests use. */
export async function npmLists(): Promise<Lists> {
  const servers = {
    everything: npmServerCommand('everything'),
    filesystem: npmServerCommand('filesystem', '/tmp'),
    memory: npmServerCommand('memory'),
  }
  const config = configSchema.parse({ mcp: { servers } })
  const asked = await askServers(config, process.env)
  return new Map(
    asked.map(({ server, found }) => [
      server.name,
      found.tools.map(({ raw }) => JSON.parse(raw.toString()) as Definition),
    ]),
  )
}

export function codingLists({ github, recorded }: ReturnType<typeof readCorpus>): Lists {
  const usual = github.filter(({ name }) => GITHUB_DEFAULT.has(name))
  const others = ['playwright', 'Context7', 'filesystem']
  return new Map([['github', usual], ...others.map(name => [name, recorded.get(name)!] as const)])
}

/** Tokens that a model gets of a list. */
export function tokensOf(list: readonly Definition[]): number {
  const sent = list.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, input_schema: inputSchema }),
  )
  return sent.reduce((sum, text) => sum + countTokens(text), 0)
}

/** What a client of the gateway sees of these lists, and how it searches them. */
export async function connect(lists: Lists, mode: 'auto' | 'always' | 'never') {
  const servers = [...lists].map(([name, tools]) => new MemoryServer(name, tools))
  const client = await connectMemory(servers, { search: { mode } })
  const list = (await client.list()).filter(({ name }) => name !== 'haversack_retrieve')
  return { list, find: (query: string, limit = 5) => client.call('find_tools', { query, limit }) }
}

/** The provider's tokens for one of o200k, and what the model writes to search. */
const FACTOR = 1.34
const ASK_TOKENS = 80

interface ListCost {
  /** o200k tokens of definitions in each request. */
  readonly definitions: number
  readonly searches: number
  /** o200k tokens of one search's answer. */
  readonly answer: number
}

/**
 * The input bill of a recorded session whose requests have these definitions more, in input tokens
 * that no cache has. A search is one more request: it reads the prompt, writes what it found, and
 * the session keeps that until it is compacted. Searches are spread over the session.
 */
export function billOf(
  { calls }: BillSession,
  { definitions, searches, answer }: ListCost,
): number {
  const more = FACTOR * definitions
  const at = new Set(
    Array.from({ length: searches }, (_, n) => Math.floor((n * calls.length) / searches)),
  )
  let kept = 0
  let bill = 0
  for (const [index, { read, write, hour, fresh, compacted }] of calls.entries()) {
    if (compacted) kept = 0
    const written = WRITE_PRICES.minutes * (write - hour) + WRITE_PRICES.hour * hour
    const price = read > 0 ? READ_PRICE : write > 0 ? written / write : 1
    bill += READ_PRICE * read + written + fresh + price * (more + kept)
    if (!at.has(index)) continue
    const found = FACTOR * answer
    bill += READ_PRICE * (read + write + fresh + more + kept)
    bill += WRITE_PRICES.minutes * (found + ASK_TOKENS) + OUTPUT_PRICE * ASK_TOKENS
    kept += found + ASK_TOKENS
  }
  return bill
}

/** From how many tokens of definitions on searches pay, in these sessions together. */
export function breakEven(sessions: readonly BillSession[], listed: ListCost): number {
  const total = (cost: ListCost) => sessions.reduce((sum, each) => sum + billOf(each, cost), 0)
  const none = { definitions: 0, searches: 0, answer: 0 }
  const perToken = (total({ ...none, definitions: 1_000 }) - total(none)) / 1_000
  return (total(listed) - total(none)) / perToken
}
