import { percent } from '../../src/cli/table.ts'
import { savingsOf } from '../../src/core/telemetry/savings.ts'
import type { Mined } from '../../src/tune/mine-log.ts'
import { savingOf } from '../../src/tune/study/counts.ts'
import { APPLICABLE_SHARE } from '../../src/tune/study/encoded.ts'
import { type Alike, measureRule } from '../../src/tune/study/rules.ts'
import type { Study } from '../../src/tune/study/study.ts'
import { markdownTable } from '../markdown-table.ts'

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

/** The seed's figures of its corpus beside those of this one, and why they differ. */
export function seedTable(study: Study, mined: readonly Mined[]): string {
  const { results, shapes, nesting, encoded, rules, sums } = study
  const of = (shape: (typeof SHAPES)[number][0]) => shapes[shape]?.results ?? 0
  const nested = nesting.shapes.nested_object
  const structured = STRUCTURED.reduce((sum, shape) => sum + of(shape), 0)
  const { histogram, applicable } = encoded
  const top4 = rules[3]?.covered ?? rules.at(-1)?.covered ?? 0
  const ofNested = mined.filter(({ event }) => event.shape === 'nested_object')
  const hasAll = ofNested.filter(({ event }) => {
    return (['log', 'url', 'hash'] as const).every(format => event.inner_formats.includes(format))
  })
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
    ['nested_object with log, url and hash', '1,432', hasAll.length, NO_PIPELINES],
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

const RULES = [
  ['R1', 'markdown_table', ['bytes ≥ 8,000', 'columns ≥ 2'], '99.6 % of 200'],
  ['R2', 'markdown_table', ['columns ≥ 8'], '97.3 % of 177'],
  ['R3', 'markdown_table', ['columns ≥ 2'], '35.5 % of 659'],
  ['R8', 'nested_object', ['url', 'log', 'hash'], '20.1 % of 1,432'],
] as const

/** What the seed's rules are worth here. */
export function seedRulesTable(alike: readonly Alike[]): string {
  const rows = RULES.map(([id, shape, conditions, seed]) => {
    const rule = measureRule(alike, { shape, conditions })
    const here =
      rule === null
        ? ['none', 0, '–', '–', 0]
        : [
            ...[rule.notation, rule.support, percent(rule.confidence, 1)],
            ...[percent(rule.median_saving ?? 0, 1), rule.saved_tokens],
          ]
    return [id, [shape, ...conditions].join(' and '), seed, ...here]
  })
  const header = ['rule', 'predicate', 'seed', 'notation here', 'support', 'confidence', 'median']
  return markdownTable([...header, 'tokens saved'], rows)
}
