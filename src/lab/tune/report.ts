import { figureLines, type ReportFigures, resultFigures } from '../../console/figure-lines.ts'
import { firstRows, percent } from '../../console/table.ts'
import { BASELINE } from '../../core/telemetry/event.ts'
import { savingsOf } from '../../core/telemetry/savings.ts'
import type { LogsBill } from '../bill/bill-logs.ts'
import { MAX_LEVEL } from '../format-levels.ts'
import { LINE_FAULTS } from '../logs/read-lines.ts'
import type { LogTally } from '../logs/read-log.ts'
import { BASELINES, type Baseline } from '../replay/baselines.ts'
import type { Counts } from '../study/counts.ts'
import type { Rule } from '../study/rules.ts'
import { APPLICABLE_SHARE, DEEP_LEVEL, type StudyFigures } from '../study/study.ts'

/** The result of mining, with counts of the logs. */
export interface Minings {
  /** Logs, files of other kinds, and what could not be read. */
  readonly files: number
  /** What savings are of. */
  readonly baseline: Baseline
  readonly other: number
  readonly unreadable: number
  readonly bytes: number
  readonly tally: LogTally
  readonly study: StudyFigures
}

type Cell = string | number

/** One table of the report. */
export interface ReportTable {
  readonly title: string
  readonly header: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/** Most rows of a table; `--json` has them all. */
const MAX_ROWS = 20
const WHERE =
  'name the folder of logs of an agent, or of recordings as haversack replay reads them.'
const NEXT = 'What each table says, and what to do with it: docs/guide/tuning.md'

/** All figures, one JSON object. */
export function toJson(minings: Minings, bill?: LogsBill): string {
  const baseline = minings.baseline === 'input' ? BASELINE : minings.baseline
  return `${JSON.stringify({ figures: figuresOf(minings.study), ...minings, baseline, bill })}\n`
}

/** Tables for a reader, or why there are none. */
export function toTables({ study, baseline }: Minings): string {
  if (study.results === 0) return `No tool results were found: ${WHERE}\n`
  const parts = tablesOf(study).flatMap(({ title, header, rows }) => {
    return [title, firstRows(header, rows, MAX_ROWS)]
  })
  const figures = figureLines(figuresOf(study)).join('\n')
  return `${[headline(study, baseline), figures, ...parts, NEXT].join('\n\n')}\n`
}

function figuresOf({ results, sums }: StudyFigures): ReportFigures {
  return resultFigures({ count: results, before: sums.baseline, after: sums.final })
}

/** A sentence that names the baseline of all percentages. */
export function headline(
  { results, sessions, tokenizer }: StudyFigures,
  baseline: Baseline,
): string {
  const counted = tokenizer === null ? '' : `; tokens of ${tokenizer}`
  const all = `${results.toLocaleString('en-US')} results, ${sessions.toLocaleString('en-US')} sessions`
  const of = baseline === 'input' ? 'the results as their tools gave them' : BASELINES[baseline]
  return `${all}${counted}; shares are of ${of}.`
}

/** The tables of the corpus study, in their order. */
export function tablesOf(study: StudyFigures): readonly ReportTable[] {
  return [
    savings,
    shapes,
    nesting,
    levels,
    combinations,
    histogram,
    formatTable,
    rules,
    endpoints,
  ].map(make => make(study))
}

function savings({ sums, sessions, sessions_compacted, results }: StudyFigures): ReportTable {
  const { dedup, encoder, combined } = savingsOf(sums)
  const share = (value: number | null) => percent(value ?? 0, 1)
  return {
    title: 'Savings by references (dedup) and by formats (encoder)',
    header: ['figure', 'value'],
    rows: [
      ['tokens', sums.baseline],
      ['saved', sums.baseline - sums.final],
      ['dedup, of all tokens', share(dedup)],
      ['encoder, of results without a reference', share(encoder)],
      ['combined, of all tokens', share(combined)],
      ['results with a reference', percent(sums.l0Results, results)],
      ['sessions with a compaction', percent(sessions_compacted, sessions)],
    ],
  }
}

function shapes({ shapes: counts, results }: StudyFigures): ReportTable {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b.results - a.results)
  return {
    title: 'Shapes',
    header: ['shape', 'results', 'share', 'tokens', 'saved by formats'],
    rows: sorted.map(([shape, each]) => [
      shape,
      each.results,
      percent(each.results, results),
      each.tokens,
      each.saved_tokens,
    ]),
  }
}

function nesting({ nesting: { shapes: counts } }: StudyFigures): ReportTable {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b.results - a.results)
  return {
    title: `JSON with formats in its strings, and at level ${DEEP_LEVEL} or deeper (objects and arrays around the string)`,
    header: ['shape', 'results', 'with formats', 'deep', 'share'],
    rows: sorted.map(([shape, { results, with_formats, deep }]) => [
      ...[shape, results, with_formats, deep],
      percent(deep, results),
    ]),
  }
}

function levels({ nesting: { levels: counts } }: StudyFigures): ReportTable {
  const names = Array.from({ length: MAX_LEVEL }, (_, index) => {
    return index + 1 === MAX_LEVEL ? `${MAX_LEVEL}+` : String(index + 1)
  })
  return {
    title: 'JSON results with each format, by level',
    header: ['format', ...names],
    rows: Object.entries(counts).map(([format, byLevel]) => [format, ...byLevel]),
  }
}

function combinations({ combinations: all }: StudyFigures): ReportTable {
  return {
    title: 'Inner formats that come together',
    header: ['shape', 'inner formats', 'results', 'tokens', 'saved', 'share'],
    rows: all
      .filter(({ inner_formats }) => inner_formats.length > 0)
      .map(({ shape, inner_formats, results, tokens, saved_tokens }) => [
        ...[shape, inner_formats.join(' + '), results, tokens, saved_tokens],
        percent(saved_tokens, tokens),
      ]),
  }
}

function histogram({ encoded }: StudyFigures): ReportTable {
  const share = applicable(encoded.applicable)
  const label = (index: number) => (index === 0 ? 'nothing' : `${10 * (index - 1)}–${10 * index} %`)
  return {
    title: `Savings by formats; at least ${100 * APPLICABLE_SHARE} %: ${share}`,
    header: ['saved', 'results', 'tokens', 'saved tokens'],
    rows: encoded.histogram.map((each, index) => [
      ...[label(index), each.results, each.tokens, each.saved_tokens],
    ]),
  }
}

function applicable({ results, saved_tokens }: Counts): string {
  const count = (number: number) => number.toLocaleString('en-US')
  return `${count(results)} results, ${count(saved_tokens)} tokens`
}

function formatTable({ encoded: { notations: counts } }: StudyFigures): ReportTable {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b.saved_tokens - a.saved_tokens)
  return {
    title: 'What results were written in',
    header: [
      'notation',
      'results',
      `saved ≥ ${100 * APPLICABLE_SHARE} %`,
      'tokens',
      'saved',
      'share',
    ],
    rows: sorted.map(([notation, { results, applicable: much, tokens, saved_tokens }]) => [
      ...[notation, results, much, tokens, saved_tokens],
      percent(saved_tokens, tokens),
    ]),
  }
}

function rules({ rules: all }: StudyFigures): ReportTable {
  return {
    title:
      'Rules: the results that meet the predicate, the share for which the format was sent, ' +
      'and what it saved of these',
    header: ['predicate', 'notation', 'support', 'confidence', 'median', 'saved', 'covered'],
    rows: all.map(rule => [
      ...[predicateOf(rule), rule.notation, rule.support, percent(rule.confidence, 1)],
      ...[percent(rule.median_saving ?? 0, 1), rule.saved_tokens, percent(rule.covered, 1)],
    ]),
  }
}

/** A rule's predicate in words. */
function predicateOf({ shape, conditions }: Pick<Rule, 'shape' | 'conditions'>): string {
  return [shape, ...conditions].join(' and ')
}

function endpoints({ endpoints: all }: StudyFigures): ReportTable {
  const header = ['endpoint class', 'results', 'tokens', 'shape', 'share', 'dedup', 'encoder']
  return {
    title: 'Endpoint classes, and what each is sent in most often',
    header: [...header, 'combined', 'notation', 'support', 'confidence', 'median', 'saved ≥ 20 %'],
    rows: all.map(each => {
      const { dedup, encoder, combined } = savingsOf(each.sums)
      return [
        ...[each.endpoint, each.sums.results, each.sums.baseline, each.shape],
        ...[each.shape_share, dedup ?? 0, encoder ?? 0, combined ?? 0].map(of => percent(of, 1)),
        ...[each.notation ?? 'none', each.support, percent(each.confidence, 1)],
        ...[percent(each.median_saving ?? 0, 1), percent(each.applicable, each.support)],
      ]
    }),
  }
}

/**
 * What was read and what was skipped, a line each. Paths are left out, since they name projects.
 */
export function summaryOf({ files, other, unreadable, tally, study }: Minings): string {
  const { lines, without_call, skipped } = tally
  const faults = LINE_FAULTS.filter(name => skipped[name] > 0)
  const listed = faults.map(name => `${name} ${skipped[name]}`)
  const counts: readonly (readonly [number, string])[] = [
    [study.copies, 'more that stand in several logs, counted once'],
    [skipped.no_text, 'more without a text, such as images'],
    [skipped.not_encoded, 'more that the service would refuse'],
    [without_call, 'whose call is in no log'],
    [sum(faults.map(name => skipped[name])), `lines passed over: ${listed.join(', ')}`],
    [other, 'files that are no logs'],
    [unreadable, 'files or folders that cannot be read'],
  ]
  const parts = [
    `${study.results} results of ${study.sessions} sessions, in ${lines} lines of ${files} logs`,
    ...counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])),
  ]
  return `${parts.join('\n')}\n`
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
