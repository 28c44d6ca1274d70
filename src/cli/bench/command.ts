import { existsSync } from 'node:fs'
import { processEnv } from '../../config/env.ts'
import {
  defineActions,
  type Options,
  type Refuse,
  UsageError,
  type ValuesOf,
} from '../../console/command.ts'
import { choice, tokenizerFieldsOf, tokenizerOptions, wholeNumber } from '../../console/options.ts'
import { createProgress } from '../../console/progress.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import { askAll } from '../../lab/bench/ask-model.ts'
import { fixturesOf, SIZES } from '../../lab/bench/fixtures.ts'
import { measureAll } from '../../lab/bench/measure.ts'
import { pageLists, pagesTable } from '../../lab/bench/pages.ts'
import { toJson, toTables } from '../../lab/bench/report.ts'
import { samplesOfCorpus, samplesOfFixtures } from '../../lab/bench/samples.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

const HOLDOUT = 0.2

const PAGE_TOKENS = 8_000

/** Options of `elision` alone. */
const actions = ['elision']

const options = {
  size: choice(SIZES, { value: 'SIZE', help: `${SIZES.join(', ')} (default the first)`, actions }),
  holdout: {
    type: 'string',
    value: 'SHARE',
    help: `Share of the texts held out, by name (default ${HOLDOUT})`,
    read: readDecimal,
    actions,
  },
  corpus: { type: 'string', value: 'DIR', help: 'Recorded results, as replay takes them', actions },
  ...tokenizerOptions,
  budget: wholeNumber({
    value: 'N',
    help: `Tokens of a page (default ${PAGE_TOKENS})`,
    min: 1,
    actions: ['pages'],
  }),
  'price-per-mtok': {
    type: 'string',
    value: 'PRICE',
    help: 'Of a million tokens of input',
    read: readDecimal,
    actions,
  },
  currency: { type: 'string', value: 'NAME', help: 'Of the price (default USD)', actions },
  'with-model': {
    type: 'string',
    value: 'URL',
    help: 'Ask a model at an OpenAI-compatible API, about whole texts and about what is left',
    actions,
  },
  key: { type: 'string', value: 'KEY', help: 'For the model (default OPENAI_API_KEY)', actions },
  json: { type: 'boolean', help: 'Print all sums as JSON' },
} as const satisfies Options

export const benchCommand = defineActions({
  name: 'bench',
  details:
    'elision: what is saved, whether every critical line is left, and every marker gives the ' +
    'very bytes back, over texts that are made up, or with --corpus over recorded results. ' +
    'pages: how many pages of a budget the lists in your files take, as compact JSON, as TOON ' +
    'and as we write them.',
  examples: ['bench elision', 'bench pages results/ --budget 8000'],
  options,
  actions: {
    elision: { run: benchElision },
    pages: { operands: { text: 'DIR|FILE', min: 1, max: 1 }, run: benchPages },
  },
  wrongAction: 'there are two benches: elision, and pages with a DIR or FILE',
})

async function benchPages(
  values: ValuesOf<typeof options>,
  [path = '']: readonly string[],
): Promise<number> {
  if (!existsSync(path)) throw new UsageError(`there is no ${path}`)
  const { budget = PAGE_TOKENS } = values
  const tokens = tokenizerFieldsOf(values)
  const lists = await pageLists(path, { budget, tokens, context: createLocalContext() })
  process.stdout.write(
    values.json ? `${JSON.stringify({ budget, lists })}\n` : pagesTable(lists, budget),
  )
  return EXIT.ok
}

async function benchElision(values: ValuesOf<typeof options>): Promise<number> {
  const { corpus, 'with-model': url } = values
  if (corpus !== undefined && !existsSync(corpus)) throw new UsageError(`there is no ${corpus}`)
  if (corpus !== undefined && url !== undefined) {
    throw new UsageError('--with-model asks about made-up texts; it cannot be used with --corpus')
  }
  const counting = tokenizerFieldsOf(values)
  const tokenizer = resolveTokenizer(counting)
  const { 'price-per-mtok': price = null, holdout = HOLDOUT } = values
  const { size = 'small', currency = 'USD' } = values
  const fixtures = corpus === undefined ? fixturesOf(size) : []
  const samples = (
    corpus === undefined ? samplesOfFixtures(fixtures, holdout) : samplesOfCorpus(corpus)
  ).map(sample => ({ ...sample, request: { ...sample.request, ...counting } }))
  const progress = createProgress('bench', samples.length * (url === undefined ? 1 : 2))
  const measured = await measureAll(samples, createLocalContext(), progress.advance)
  const key = values.key ?? processEnv()['OPENAI_API_KEY']
  const model = counting.model ?? ''
  const asked =
    url === undefined
      ? null
      : await askAll(fixtures, measured, { url, model, key }, progress.advance)
  progress.done()
  const print = values.json ? toJson : toTables
  process.stdout.write(print({ measured, tokenizer, price, currency, asked }))
  const isRight = measured.every(
    ({ missing, restored }) => missing.length === 0 && restored !== false,
  )
  return isRight ? EXIT.ok : EXIT.failed
}

function readDecimal(given: string, refuse: Refuse): number {
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(given) ? Number(given) : refuse('a number')
}
