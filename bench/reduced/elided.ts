import { type Measured, measureAll } from '../../src/cli/bench/measure.ts'
import { type Sums, sumAll, sumBy } from '../../src/cli/bench/report.ts'
import { samplesOfCorpus } from '../../src/cli/bench/samples.ts'
import { percent } from '../../src/cli/table.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { markdownTable } from '../support/markdown-table.ts'

const HEADER =
  'texts,reduced,tokens,lossless,elided,saved,of lossless,critical kept,restored'.split(',')

/** What elision saves, whether critical parts are left, and whether markers give the bytes back. */
export async function elided(corpus: string): Promise<string> {
  const measured = await measureAll(samplesOfCorpus(corpus), createLocalContext(), () => {})
  return [
    table('kind', measured, ({ sample }) => sample.kind),
    table('source', measured, ({ sample }) => sample.group),
  ].join('\n\n')
}

function table(name: string, measured: readonly Measured[], keyOf: (each: Measured) => string) {
  const rows = [...sumBy(measured, keyOf)].sort(([, a], [, b]) => b.tokens_in - a.tokens_in)
  return markdownTable(
    [name, ...HEADER],
    [...rows, ['all', sumAll(measured)] as const].map(([key, sums]) => rowOf(key, sums)),
  )
}

function rowOf(name: string, sums: Sums): (string | number)[] {
  const { texts, reduced, tokens_in, tokens_lossless, tokens_out } = sums
  return [
    ...[name, texts, reduced, tokens_in, tokens_lossless, tokens_out],
    percent(tokens_in - tokens_out, tokens_in),
    percent(tokens_lossless - tokens_out, tokens_lossless),
    `${sums.critical_kept}/${sums.critical}`,
    `${sums.restored}/${sums.markers}`,
  ]
}
