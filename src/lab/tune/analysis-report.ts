import { percent, table } from '../../console/table.ts'
import { writeKey } from '../../core/pipeline/profile/key-path.ts'
import type { Analysis } from '../analysis.ts'
import { entryOf } from '../entry-of.ts'
import type { Judged, Judgement } from '../guard/judge.ts'
import type { Stats } from '../rules/class-stats.ts'

/** What was saved of one class, by means, against a baseline. */
interface ClassRow {
  readonly name: string
  results: number
  tokens: number
  references: number
  formats: number
  omission: number
}

function noRow(name: string): ClassRow {
  return { name, results: 0, tokens: 0, references: 0, formats: 0, omission: 0 }
}

/** Classes that are printed. */
const MOST_CLASSES = 20

/** The three savings by class and of all. */
function savingsOf({ seen }: Analysis, tokensOf: ReportOptions['tokensOf']) {
  const all = noRow('all')
  const byClass = new Map<string, ClassRow>()
  for (const { conversation, played } of seen) {
    for (const [at, { class: name, text }] of conversation.results.entries()) {
      const { before, after, referred, elided } = played[at]!
      const baseline = tokensOf?.(text) ?? before
      for (const row of [all, entryOf(byClass, name, () => noRow(name))]) {
        row.results++
        row.tokens += baseline
        row.references += referred
        row.omission += elided
        row.formats += baseline - after - referred - elided
      }
    }
  }
  return { all, rows: [...byClass.values()].sort((a, b) => b.tokens - a.tokens) }
}

export interface ReportOptions {
  /** A text's tokens as the baseline writes it; `null`: as they were counted. */
  readonly tokensOf: ((text: string) => number) | null
  readonly baseline: string
}

/** Tables for a reader: what is saved by class, each proposal with its verdict, and the sum. */
export function reportAnalysis(analysis: Analysis, options: ReportOptions): string {
  const { all, rows } = savingsOf(analysis, options.tokensOf)
  const { judgement } = analysis
  const savings = [...rows.slice(0, MOST_CLASSES), all].map(row => {
    // The reporting rule of SOURCES.md#formats, "Savings Accounting".
    const { name, results, tokens, references, formats, omission } = row
    return [
      ...[name, results, tokens, percent(references, tokens)],
      ...[percent(formats, tokens - references), percent(omission, tokens)],
      percent(references + formats + omission, tokens),
    ]
  })
  const head = ['class', 'results', 'tokens', 'references', 'encoder', 'omission', 'combined']
  const more =
    rows.length > MOST_CLASSES ? [`… and ${rows.length - MOST_CLASSES} more (--json)`] : []
  return `${[
    [`Saved of ${options.baseline}:`, '', table(head, savings), ...more, SHARES].join('\n'),
    judgedTable(judgement),
    togetherLine(judgement),
    ...priorLines(judgement),
  ].join('\n\n')}\n`
}

const SHARES =
  'references, omission and combined: of all tokens; encoder: of those that references did not take'

function judgedTable({ judged, conversations: { chosen, unseen } }: Judgement): string {
  const title =
    `${judged.length} candidates. They were chosen by ${chosen} conversations and judged by ` +
    `${unseen} others; billed input tokens that each saves alone:`
  if (judged.length === 0) return 'No rule proposes a change.'
  const order = ['applies', 'prior', 'loses', 'no effect', 'shadowed', 'too few']
  const sorted = judged.toSorted((a, b) => order.indexOf(a.verdict) - order.indexOf(b.verdict))
  const rows = sorted.map(({ proposal, chosen: a, unseen: b, verdict }) => [
    ...[proposal.rule, `${writeKey(proposal.key)} = ${JSON.stringify(proposal.to)}`],
    ...[signed(a), signed(b), verdict, proposal.evidence],
  ])
  const head = ['rule', 'change', 'chosen half', 'unseen half', 'verdict', 'evidence']
  return [title, '', table(head, rows)].join('\n')
}

function togetherLine({ together }: Judgement): string {
  if (together === null) return 'Nothing to change.'
  const { proposals, before, after, interval, isAccepted } = together
  return (
    `Together ${proposals.length} save ${signed(before - after)} of ${signed(before, '')} ` +
    `billed on the unseen half (95 %: ${signed(interval.low)} to ${signed(interval.high)}): ` +
    (isAccepted ? 'accepted. `haversack tune apply` writes them.' : 'nothing to change.')
  )
}

function priorLines({ judged }: Judgement): readonly string[] {
  const count = judged.filter(({ verdict }) => verdict === 'prior').length
  if (count === 0) return []
  return [
    `${count} proposed by figures of others, and judged once there are own results. ` +
      '`haversack tune apply` writes them.',
  ]
}

function signed(tokens: number | null, plus = '+'): string {
  if (tokens === null) return '–'
  const whole = Math.round(tokens)
  const digits = Math.abs(whole).toLocaleString('en-US')
  return whole < 0 ? `−${digits}` : `${whole === 0 ? '' : plus}${digits}`
}

/** The same for programs. */
export function analysisRecord(analysis: Analysis, { tokensOf, baseline }: ReportOptions) {
  const { judged, together, conversations } = analysis.judgement
  const { all, rows } = savingsOf(analysis, tokensOf)
  const { results, tokens, references, formats, omission } = all
  const share = (part: number, whole: number) => (whole === 0 ? null : part / whole)
  return {
    baseline,
    conversations,
    results,
    combined_saving: share(references + formats + omission, tokens),
    encoder_share: share(formats, tokens - references),
    classes: rows,
    candidates: judged.map(recordOf),
    together: together && {
      ...together,
      proposals: together.proposals.map(({ key }) => writeKey(key)),
    },
  }
}

function recordOf({ proposal, chosen, unseen, verdict }: Judged) {
  const { rule, key, to, evidence } = proposal
  return { rule, key: writeKey(key), to, evidence, chosen, unseen, verdict }
}

/** Models and endpoint classes that are named. */
const MOST_MODELS = 8
const MOST_SERVER_CLASSES = 10
const SERVER_CLASS = /^mcp__/
/** A model's name is the log's own text. */
const PLAIN = /^[\w.:@/-]{1,80}$/

/** What logs are of: conversations, models, servers. Lines for a person. */
export function describeSessions({ sessions, classes }: Stats): string {
  const { conversations, results, reads, compactions, models } = sessions
  const lines = [
    `${conversations} conversations, ${results} results (${percent(reads, results)} reads), ` +
      `${compactions} compactions`,
  ]
  const byCount = [...models].sort(([, a], [, b]) => b - a)
  const named = byCount.slice(0, MOST_MODELS).map(([model, count]) => {
    return `${PLAIN.test(model) ? model : '(a name)'} ${percent(count, results)}`
  })
  if (named.length > 0) lines.push(`models: ${named.join(', ')}`)
  const ofServers = [...classes.values()]
    .filter(({ name }) => SERVER_CLASS.test(name))
    .sort((a, b) => b.results - a.results)
    .slice(0, MOST_SERVER_CLASSES)
    .map(({ name, results: own }) => `${name} ${own}`)
  if (ofServers.length > 0) lines.push(`MCP: ${ofServers.join(', ')}`)
  return lines.map(line => `# ${line}\n`).join('')
}
