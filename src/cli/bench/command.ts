import { existsSync } from 'node:fs'
import { processEnv } from '../../config/env.ts'
import {
  defineActions,
  type Options,
  type Refuse,
  UsageError,
  type ValuesOf,
} from '../../console/command.ts'
import { choice, tokenizerFieldsOf, tokenizerOptions } from '../../console/options.ts'
import { createProgress } from '../../console/progress.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import { askAll } from '../../lab/bench/ask-model.ts'
import { fixturesOf, SIZES } from '../../lab/bench/fixtures.ts'
import { measureAll } from '../../lab/bench/measure.ts'
import { toJson, toTables } from '../../lab/bench/report.ts'
import { samplesOfCorpus, samplesOfFixtures } from '../../lab/bench/samples.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

const HOLDOUT = 0.2

const options = {
  size: choice(SIZES, { value: 'SIZE', help: `${SIZES.join(', ')} (default the first)` }),
  holdout: {
    type: 'string',
    value: 'SHARE',
    help: `Share of the texts held out, by name (default ${HOLDOUT})`,
    read: readDecimal,
  },
  corpus: { type: 'string', value: 'DIR', help: 'Recorded results, as replay takes them' },
  ...tokenizerOptions,
  'price-per-mtok': {
    type: 'string',
    value: 'PRICE',
    help: 'Of a million tokens of input',
    read: readDecimal,
  },
  currency: { type: 'string', value: 'NAME', help: 'Of the price (default USD)' },
  'with-model': {
    type: 'string',
    value: 'URL',
    help: 'Ask a model at an OpenAI-compatible API, about whole texts and about what is left',
  },
  key: { type: 'string', value: 'KEY', help: 'For the model (default OPENAI_API_KEY)' },
  json: { type: 'boolean', help: 'Print all sums as JSON' },
} as const satisfies Options

export const benchCommand = defineActions({
  name: 'bench',
  details:
    'elision: what is saved, whether every critical line is left, and every marker gives the ' +
    'very bytes back, over texts that are made up, or with --corpus over recorded results.',
  examples: ['bench elision', 'bench elision --corpus results/'],
  options,
  actions: { elision: { run: benchElision } },
})

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
