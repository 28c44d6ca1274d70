import { percent } from '../../src/cli/table.ts'
import type { InnerFormat } from '../../src/core/classify/inner-formats.ts'
import type { TelemetryEvent } from '../../src/core/telemetry/event.ts'
import { savingsOf } from '../../src/core/telemetry/savings.ts'
import type { Mined } from '../../src/tune/mine-log.ts'
import { savingOf } from '../../src/tune/study/counts.ts'
import { APPLICABLE_SHARE } from '../../src/tune/study/encoded.ts'
import type { Study } from '../../src/tune/study/study.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { median } from '../support/statistics.ts'

const SHAPES = [
  ['prose', '53.3 %'],
  ['numbered_list', '33.2 %'],
  ['nested_object', '4.8 %'],
  ['code_block', '4.4 %'],
  ['bullet_list', '3.4 %'],
  ['markdown_table', '0.7 %'],
  ['flat_object', '0.1 %'],
  ['array_of_objects', '0.1 %'],
] as const
/** Shapes that the seed's encoders are for. */
const STRUCTURED = ['nested_object', 'markdown_table', 'flat_object', 'array_of_objects'] as const

const NO_TABLES = 'no issue tracker in the corpus whose server answers with long Markdown tables'
const NO_PIPELINES =
  'no GitLab pipelines in the corpus; a time stamp counts as a log from two lines on'
const TEXT_TOO =
  'here file reads, searches and logs have notations too, which the seed leaves as they are'

/** What the seed calls a pipeline. */
const PIPELINE: readonly InnerFormat[] = ['log', 'url', 'hash']
const COMBINATIONS: readonly (readonly [readonly InnerFormat[], string])[] = [
  [PIPELINE, '1,432 results, 18.7 %'],
  [['log', 'url'], '1,434 results, 3.3 %'],
  [['diff'], '151 results, 5.1 %'],
  [['prose', 'url', 'log'], '1,122 results, 2.7 %'],
]
/** The seed's two actions, and the notations here that are most like them. */
const WINS = [
  ['Markdown tables as CSV', ['md@1', 'csv@1'], '883 results, 69 %', NO_TABLES],
  ['JSON by parts', ['tree@2', 'embedded@1'], '867 results, 26 %', 'JSON of other services'],
] as const

/** The seed's figures of its corpus beside those of this one, and why they differ. */
export function seedTable(study: Study, mined: readonly Mined[]): string {
  const { results, shapes, nesting, encoded, rules, sums } = study
  const of = (shape: (typeof SHAPES)[number][0]) => shapes[shape]?.results ?? 0
  const nested = nesting.shapes.nested_object
  const structured = STRUCTURED.reduce((sum, shape) => sum + of(shape), 0)
  const { histogram, applicable } = encoded
  const top4 = rules[3]?.covered ?? rules.at(-1)?.covered ?? 0
  const ofNested = mined.filter(({ event }) => event.shape === 'nested_object')
  const jsonOnly = mined.filter(({ event }) => STRUCTURED.some(shape => shape === event.shape))
  const much = (all: readonly Mined[]) =>
    all.filter(each => savingOf(each.event) >= APPLICABLE_SHARE)
  const bash = mined.filter(({ event }) => event.tool_name_anon.toLowerCase() === 'bash')
  const { combined } = savingsOf(sums)
  const rows = [
    ...SHAPES.map(([shape, seed]) => [
      `results that are ${shape}`,
      seed,
      percent(of(shape), results),
      '',
    ]),
    ['results that are JSON or Markdown tables', '5.7 %', percent(structured, results), ''],
    [
      ...['nested_object with formats at level 3 or deeper', '83 %'],
      ...[percent(nested?.deep ?? 0, nested?.results ?? 0), NO_PIPELINES],
    ],
    [
      ...['nested_object with formats in a string at all', '83 %'],
      ...[
        percent(nested?.with_formats ?? 0, nested?.results ?? 0),
        'should the seed count levels so',
      ],
    ],
    ...COMBINATIONS.map(([formats, seed]) => {
      const having = ofNested.filter(each => hasAll(each, formats))
      return [
        `nested_object with ${formats.join(', ')}: mean saved`,
        seed,
        ofMean(having),
        NO_PIPELINES,
      ]
    }),
    ...WINS.map(([name, notations, seed, why]) => {
      const sent = much(mined).filter(({ notation }) =>
        (notations as readonly string[]).includes(notation ?? ''),
      )
      return [`${name} that save ≥ 20 %: mean saved`, seed, ofMean(sent), why]
    }),
    [
      'results that notations save ≥ 20 % of',
      '1.25 %',
      percent(applicable.results, results),
      TEXT_TOO,
    ],
    [
      'the same, of JSON and tables only',
      '21.9 %',
      percent(much(jsonOnly).length, jsonOnly.length),
      '',
    ],
    [
      'Bash results that they save ≥ 20 % of',
      '0.4 %',
      percent(much(bash).length, bash.length),
      TEXT_TOO,
    ],
    [
      'tokens that those save, of all',
      '1.35 %',
      percent(applicable.saved_tokens, sums.baseline),
      TEXT_TOO,
    ],
    ['results that 20–30 % is saved of', '930', histogram[3]!.results, TEXT_TOO],
    ['results that 90 % and more is saved of', '411', histogram[10]!.results, NO_TABLES],
    ['share of notations’ savings in the first four rules', '95.8 %', percent(top4, 1), ''],
    [
      'results with a reference',
      '29.9 %',
      percent(sums.l0Results, results),
      '2 % of these results repeat an earlier one as a whole; most references are to parts',
    ],
    [
      'sessions with a compaction',
      '9.4 %',
      percent(study.sessions_compacted, study.sessions),
      'automatic ones are found too',
    ],
    [
      'tokens saved in all',
      '35.0 %',
      percent(combined ?? 0, 1),
      'the seed counts a reference as free',
    ],
  ]
  return markdownTable(['figure', 'seed', 'here', 'why'], rows)
}

interface SeedRule {
  readonly id: string
  readonly predicate: string
  /** Action, median of what it saves, support, and its share of what all rules save. */
  readonly seed: readonly [string, string, string, string]
  holds(event: TelemetryEvent): boolean
}

const isTable = ({ shape }: TelemetryEvent) => shape === 'markdown_table'
const isLong = ({ response_chars }: TelemetryEvent) => response_chars > 8_000
const columns = ({ n_cols = 0 }: TelemetryEvent) => n_cols

/**
 * Each table counts for one rule: the supports of the seed's first three add up to all its tables
 * but a few.
 */
const RULES: readonly SeedRule[] = [
  {
    id: 'R1',
    predicate: 'markdown_table, 2 columns or more, above 8,000 bytes',
    seed: ['csv_from_md', '99.6 %', '200', '54.8 %'],
    holds: event => isTable(event) && isLong(event) && columns(event) >= 2,
  },
  {
    id: 'R8',
    predicate: 'nested_object with log, url and hash',
    seed: ['deep_mckp', '20.1 %', '1,432', '23.8 %'],
    holds: event => event.shape === 'nested_object' && hasAll({ event }, PIPELINE),
  },
  {
    id: 'R3',
    predicate: 'markdown_table, 2 to 7 columns, shorter',
    seed: ['csv_from_md', '35.5 %', '659', '10.2 %'],
    holds: event => isTable(event) && !isLong(event) && columns(event) >= 2 && columns(event) < 8,
  },
  {
    id: 'R2',
    predicate: 'markdown_table, 8 columns or more, shorter',
    seed: ['csv_from_md', '97.3 %', '177', '7.0 %'],
    holds: event => isTable(event) && !isLong(event) && columns(event) >= 8,
  },
]

/** What the seed's rules are worth here, from the events themselves. */
export function seedRulesTable(mined: readonly Mined[]): string {
  const fresh = mined.filter(({ event }) => !event.is_dedup_hit)
  const all = savedBy(fresh)
  const rows = RULES.map(({ id, predicate, seed, holds }) => {
    const met = fresh.filter(({ event }) => holds(event))
    const [notation, sent] = mostSent(met)
    const shares = met.map(each => savingOf(each.event)).sort((a, b) => a - b)
    const middle = shares.length === 0 ? '–' : percent(median(shares), 1)
    return [
      ...[id, predicate, ...seed, met.length, notation, percent(sent, met.length), middle],
      ...[savedBy(met), percent(savedBy(met), all)],
    ]
  })
  const ofSeed = ['seed: action', 'median', 'support', 'share']
  const header = ['rule', 'predicate', ...ofSeed, 'here: support', 'sent most', 'confidence']
  return markdownTable([...header, 'median of all', 'tokens saved', 'share'], rows)
}

function hasAll({ event }: Pick<Mined, 'event'>, formats: readonly InnerFormat[]): boolean {
  return formats.every(format => event.inner_formats.includes(format))
}

/** How many there are, and the mean of the shares that notations save of them. */
function ofMean(mined: readonly Mined[]): string {
  const fresh = mined.filter(({ event }) => !event.is_dedup_hit)
  const sum = fresh.reduce((total, each) => total + savingOf(each.event), 0)
  return `${fresh.length} results, ${percent(sum, fresh.length)}`
}

function savedBy(mined: readonly Mined[]): number {
  return mined.reduce((sum, { event }) => sum + event.encoder_tokens_saved, 0)
}

/** The notation that most results were sent in, and how many. */
function mostSent(mined: readonly Mined[]): readonly [string, number] {
  const counts = new Map<string, number>()
  for (const { notation } of mined) {
    const name = notation ?? 'none'
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0] ?? ['–', 0]
}
