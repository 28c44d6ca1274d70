import { existsSync } from 'node:fs'
import { processEnv } from '../config/env.ts'
import { resolveTokenizer } from '../core/tokens/resolve.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { createLocalContext } from '../runtime/local-context.ts'
import { askAll } from './bench/ask-model.ts'
import { fixturesOf, SIZES } from './bench/fixtures.ts'
import { measureAll } from './bench/measure.ts'
import { toJson, toTables } from './bench/report.ts'
import { samplesOfCorpus, samplesOfFixtures } from './bench/samples.ts'
import { type Command, text, UsageError, type Values } from './command.ts'
import { oneOf, tokenizerFieldsOf, tokenizerOptions } from './options.ts'
import { createProgress } from './progress.ts'

const HOLDOUT = 0.2

export const benchCommand: Command = {
  name: 'bench',
  summary: 'Measure elision: what is saved, and whether what matters is left',
  details:
    'Whether every critical line is left, and every marker gives the very bytes back: over texts that are made up, ' +
    'or with --corpus over recorded results.',
  operands: 'elision',
  maxOperands: 1,
  options: {
    size: { type: 'string', value: 'SIZE', help: `${SIZES.join(', ')} (default the first)` },
    holdout: { type: 'string', value: 'SHARE', help: `Told apart by name (default ${HOLDOUT})` },
    corpus: { type: 'string', value: 'DIR', help: 'Recorded results, as replay takes them' },
    ...tokenizerOptions,
    'price-per-mtok': { type: 'string', value: 'PRICE', help: 'Of a million tokens of input' },
    currency: { type: 'string', value: 'NAME', help: 'Of the price (default USD)' },
    'with-model': {
      type: 'string',
      value: 'URL',
      help: 'Ask a model at an OpenAI-compatible API, about whole texts and about what is left',
    },
    key: { type: 'string', value: 'KEY', help: 'For the model (default OPENAI_API_KEY)' },
    json: { type: 'boolean', help: 'Print all sums as JSON' },
  },
  async run(values, [what]) {
    if (what !== 'elision') throw new UsageError('there is one bench: elision')
    const corpus = text(values, 'corpus')
    const url = text(values, 'with-model')
    if (corpus !== undefined && !existsSync(corpus)) throw new UsageError(`there is no ${corpus}`)
    if (corpus !== undefined && url !== undefined) {
      throw new UsageError('--with-model asks about made-up texts; it does not go with --corpus')
    }
    const counting = tokenizerFieldsOf(values)
    const tokenizer = resolveTokenizer(counting)
    const price = numberOf('price-per-mtok', values)
    const holdout = numberOf('holdout', values) ?? HOLDOUT
    const fixtures = corpus === undefined ? fixturesOf(oneOf('size', SIZES, values) ?? 'small') : []
    const samples = (
      corpus === undefined ? samplesOfFixtures(fixtures, holdout) : samplesOfCorpus(corpus)
    ).map(sample => ({ ...sample, request: { ...sample.request, ...counting } }))
    const progress = createProgress('bench', samples.length * (url === undefined ? 1 : 2))
    const measured = await measureAll(samples, createLocalContext(), progress.advance)
    const key = text(values, 'key') ?? processEnv()['OPENAI_API_KEY']
    const model = counting.model ?? ''
    const asked =
      url === undefined
        ? null
        : await askAll(fixtures, measured, { url, model, key }, progress.advance)
    progress.done()
    const currency = text(values, 'currency') ?? 'USD'
    const print = values['json'] === true ? toJson : toTables
    process.stdout.write(print({ measured, tokenizer, price: price ?? null, currency, asked }))
    const isRight = measured.every(
      ({ missing, restored }) => missing.length === 0 && restored !== false,
    )
    return isRight ? EXIT.ok : EXIT.failed
  },
}

/** @throws UsageError */
function numberOf(name: string, values: Values): number | undefined {
  const given = text(values, name)
  if (given === undefined) return undefined
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(given)) return Number(given)
  throw new UsageError(`--${name} takes a number`)
}
