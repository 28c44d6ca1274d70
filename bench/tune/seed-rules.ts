import { splitByHash } from '../../src/tune/guard/halves.ts'
import { judge } from '../../src/tune/guard/judge.ts'
import type { Plays } from '../../src/tune/guard/plays.ts'
import { createTrials } from '../../src/tune/guard/trials.ts'
import type { Conversation } from '../../src/tune/play/conversation.ts'
import {
  type ClassStats,
  collectStats,
  quantile,
  type Stats,
} from '../../src/tune/rules/class-stats.ts'
import type { Proposal, RuleId } from '../../src/tune/rules/proposal.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { PRICES, seenBy } from './recorded.ts'

const LEAST_CALLS = 20

/**
 * R1 to R5 as seed 000 has them, each rule as one change of all its keys, and all five together:
 * what the guard says.
 */
export function seedRules(conversations: readonly Conversation[], plays: Plays): string {
  const trials = createTrials(plays, { prices: PRICES, fetching: { share: 1 } })
  const stats = collectStats(seenBy(conversations, plays, new Map()))
  const proposals = seedProposals(stats)
  const before = conversations.reduce((sum, each) => sum + tokensOf(each, plays, []), 0)
  const { unseen } = splitByHash(conversations, 'seed rules')
  const unseenBefore = unseen.reduce((sum, each) => sum + trials.base(each).total, 0)
  const rules: readonly (RuleId | 'all')[] = ['R1', 'R2', 'R3', 'R4', 'R5', 'all']
  const rows = rules.map(rule => {
    const own = proposals.filter(each => rule === 'all' || each.rule === rule)
    const after = conversations.reduce((sum, each) => sum + tokensOf(each, plays, own), 0)
    const gain = unseen.reduce((sum, each) => sum + trials.gain(each, own), 0)
    return [
      ...[rule, own.length, signedShare(after - before, before)],
      ...[
        signedShare(-gain, unseenBefore),
        gain > 0 ? 'to be judged' : gain === 0 ? 'no effect' : 'refused',
      ],
    ]
  })
  const head = ['rule', 'changes', 'tokens', 'billed, unseen half', 'verdict']
  return markdownTable(head, rows)
}

/** What rules propose that leave nothing out, over many splits: what the accepted ones save. */
export function losslessOverSplits(
  conversations: readonly Conversation[],
  plays: Plays,
  { proposals, splits }: { readonly proposals: readonly Proposal[]; readonly splits: number },
): string {
  const trials = createTrials(plays, { prices: PRICES, fetching: { share: 1 } })
  let accepted = 0
  let lost = 0
  let best = 0
  for (let split = 0; split < splits; split++) {
    const { together } = judge(conversations, proposals, trials, { key: `split ${split}` })
    if (together?.isAccepted !== true) continue
    accepted++
    const saved = together.before - together.after
    if (saved < 0) lost++
    best = Math.max(best, saved / together.before)
  }
  return (
    `Of ${proposals.length} lossless candidates the guard accepted some in ${accepted} of ` +
    `${splits} splits. They cost tokens on the unseen half in ${lost}; at best they saved ` +
    `${(100 * best).toFixed(2)} % of the bill.`
  )
}

function tokensOf(conversation: Conversation, plays: Plays, proposals: readonly Proposal[]) {
  return plays.outcome(conversation, proposals).played.reduce((sum, { after }) => sum + after, 0)
}

function signedShare(change: number, whole: number): string {
  const share = (100 * change) / whole
  return `${share > 0 ? '+' : ''}${share.toFixed(2)} %`
}

function seedProposals({ classes, sessions }: Stats): readonly Proposal[] {
  const known = [...classes.values()].filter(({ results }) => results >= LEAST_CALLS)
  const byClass = known.flatMap(each => [...seedR1(each), ...seedR2(each)])
  const { results, compactions, conversations, depths, bytes } = sessions
  const lru =
    compactions / results > 0.05
      ? Math.max(10, Math.ceil((results / (conversations + compactions)) * 0.2))
      : results / conversations < 20
        ? 3
        : 5
  return [
    ...byClass,
    proposal('R3', ['dedup', 'lru_size'], lru),
    proposal('R4', ['mckp', 'recursion_depth'], quantile(depths, 0.95) < 3 ? 3 : 5),
    proposal(
      'R5',
      ['dedup', 'min_body_chars'],
      Math.min(500, Math.max(100, quantile(bytes, 0.25))),
    ),
  ]
}

/** By exact duplicates alone. */
function seedR1({ name, results, exact, bursts }: ClassStats): readonly Proposal[] {
  const share = exact / results
  const lru = Math.min(10, 1 + Math.round(quantile(bursts, 0.9)))
  if (share >= 0.3) return [proposal('R1', ['endpoint_overrides', name, 'lru_size'], lru)]
  if (share > 0.05) return []
  return [proposal('R1', ['endpoint_overrides', name, 'dedup_enabled'], false)]
}

function seedR2({ name, shapes, columns, innerFormats }: ClassStats): readonly Proposal[] {
  const [shape] = [...shapes].sort(([, a], [, b]) => b - a)[0] ?? []
  const inner = [...innerFormats].sort(([, a], [, b]) => b - a).slice(0, 3)
  const has = (format: string) => inner.some(([each]) => each === format)
  const mean = columns.reduce((sum, each) => sum + each, 0) / (columns.length || 1)
  const template =
    shape === 'markdown_table' && mean >= 2
      ? 'csv_from_md'
      : ['log', 'url', 'hash'].every(has)
        ? 'pipeline_deep_mckp'
        : has('diff')
          ? 'mr_diff_fence'
          : null
  if (template === null) return []
  return [proposal('R2', ['endpoint_overrides', name, 'template_id'], template)]
}

function proposal(rule: RuleId, key: readonly string[], to: boolean | number | string): Proposal {
  return { rule, key, to, evidence: '', isTooFew: false, touches: () => true }
}
