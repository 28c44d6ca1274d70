import { DEFAULT_PIPELINE } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { type Analysis, analyze } from '../../src/tune/analyze.ts'
import { changedConfig } from '../../src/tune/guard/changed-config.ts'
import { splitByHash } from '../../src/tune/guard/halves.ts'
import type { Conversation, RecordedResult } from '../../src/tune/play/conversation.ts'
import type { Proposal } from '../../src/tune/rules/proposal.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { PRICES } from './recorded.ts'

const KEY = 'profiles'
const READS: ReadonlySet<string> = new Set(['Read', 'read', 'Grep', 'grep', 'Glob', 'cat', 'sed'])
const POLLING_SESSIONS = 40
const POLLS = 30
const JOBS = 25

interface Profile {
  readonly name: string
  /** What seed 000 says that tuning wins there, in points. */
  readonly claim: string
  readonly conversations: readonly Conversation[]
}

/**
 * The profiles of seed 000: what the default saves of the tokens on the unseen half, and what the
 * configuration saves that the guard accepted. Two are recorded, polling is built.
 */
export function profilesTable(recorded: readonly Conversation[]): string {
  const rows = profilesOf(recorded).map(({ name, claim, conversations }) => {
    const analysis = analysisOf(conversations)
    const { together, judged } = analysis.judgement
    const accepted = together?.isAccepted === true ? together.proposals : []
    const { unseen } = splitByHash(conversations, KEY)
    const before = savedShare(unseen, analysis, [])
    const after = savedShare(unseen, analysis, accepted)
    const results = conversations.reduce((sum, each) => sum + each.results.length, 0)
    return [
      ...[name, conversations.length, results, judged.length, accepted.length],
      ...[`${before.toFixed(1)} %`, `${after.toFixed(1)} %`, (after - before).toFixed(1), claim],
      accepted.length === 0 ? '–' : `${billShare(together!).toFixed(2)} %`,
    ]
  })
  const head = ['profile', 'conversations', 'results', 'candidates', 'accepted', 'saved by default']
  return markdownTable([...head, 'tuned', 'points', "the seed's", 'of the bill'], rows)
}

function profilesOf(recorded: readonly Conversation[]): readonly Profile[] {
  const isSearch = ({ results }: Conversation) =>
    results.length <= 200 &&
    results.filter(each => READS.has(each.class)).length >= results.length / 2
  const isLong = ({ results }: Conversation) =>
    results.length >= 200 || results.some(({ epoch }) => epoch >= 2)
  return [
    { name: 'search-heavy', claim: '+7', conversations: recorded.filter(isSearch) },
    { name: 'polling', claim: '+16', conversations: pollingSessions() },
    { name: 'marathon', claim: '+10', conversations: recorded.filter(isLong) },
  ]
}

/** An agent that asks for the state of jobs again and again; a job ends at each third look. */
function pollingSessions(): readonly Conversation[] {
  return Array.from({ length: POLLING_SESSIONS }, (_, session) => ({
    id: `polling ${session}`,
    results: Array.from({ length: POLLS }, (_, poll): RecordedResult => {
      const jobs = Array.from({ length: JOBS }, (_, job) => ({
        id: 70_000 + 100 * session + job,
        name: `build-${session}-${job}`,
        status: job < poll / 3 ? 'completed' : 'in_progress',
        url: `https://ci.example.com/runs/${session}/jobs/${job}`,
      }))
      return {
        ...{ tool: 'mcp__ci__list_jobs', args: { run: session }, class: 'mcp__p63c4f2__list_jobs' },
        ...{ text: JSON.stringify({ total: JOBS, jobs }, null, 2), isError: false },
        ...{ callId: `${session}-${poll}`, agent: undefined, model: undefined, epoch: 0 },
      }
    }),
  }))
}

function analysisOf(conversations: readonly Conversation[]): Analysis {
  return analyze(conversations, {
    ...{ context: createLocalContext(), prices: PRICES, elides: true, isProxied: true },
    configWith: changes => changedConfig(DEFAULT_PIPELINE, changes),
    fetching: { share: 1 },
    key: KEY,
  })
}

/** In percent of the bill. */
function billShare({ before, after }: { readonly before: number; readonly after: number }) {
  return (100 * (before - after)) / before
}

/** In percent of the tokens. */
function savedShare(
  conversations: readonly Conversation[],
  { plays }: Analysis,
  proposals: readonly Proposal[],
): number {
  const all = conversations.flatMap(each => plays.outcome(each, proposals).played)
  const before = all.reduce((sum, each) => sum + each.before, 0)
  const after = all.reduce((sum, each) => sum + each.after, 0)
  return (100 * (before - after)) / before
}
