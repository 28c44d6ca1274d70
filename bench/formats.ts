import { percent } from '../src/console/table.ts'
import { splitFormat } from '../src/core/formats/text/text-format.ts'
import { encodeOperation } from '../src/core/operations/encode.ts'
import { FORMAT_NAMES } from '../src/core/pipeline/layers.ts'
import { pipelineSchema } from '../src/core/pipeline/profile/pipeline-config.ts'
import { READING_LEVELS } from '../src/core/reading/constructs.ts'
import { encode } from '../src/index.ts'
import { readResults } from '../src/lab/replay/read-results.ts'
import { createLocalContext } from '../src/library/local-context.ts'
import { documentTables, readDocuments } from './formats/documents.ts'
import { isContainer } from './support/corpus.ts'
import { machine } from './support/machine.ts'
import { markdownTable, publish } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

/**
 * npm run bench -- formats CORPUS [--only NAME,… --write]
 *
 * Tokens of recorded results, each by itself. `documents`: JSON beside other formats, each decoded
 * by its own decoder. `shapes`: what is saved of each shape at each level of reading. `needed`: what
 * results would take more without a format. `settings`: what keys of `pipeline_config.toml` cost.
 * Ends with 1 if JSON takes more than its compact text.
 */
const options = readOptions({
  corpus: REQUIRED,
  only: ['documents', 'shapes', 'needed', 'settings'],
  write: false,
})

const { results } = readResults(options.corpus)

function shapesTable(): string {
  const sums = new Map<string, number[]>()
  for (const { text: content } of results) {
    const answers = READING_LEVELS.map(level => encode({ content, reading: level }))
    const { shape, tokens } = answers[0]!
    const counts = [1, tokens.baseline, ...answers.map(answer => answer.tokens.final)]
    for (const name of [shape, 'all']) {
      const sum = sums.get(name) ?? counts.map(() => 0)
      sums.set(
        name,
        sum.map((each, i) => each + counts[i]!),
      )
    }
  }
  const rows = [...sums].toSorted(([, a], [, b]) => a[1]! - b[1]!)
  return markdownTable(
    ['shape', 'results', 'tokens', ...READING_LEVELS],
    rows.map(([name, [count = 0, before = 0, ...after]]) => {
      const saved = after.map(tokens => percent(before - tokens, before))
      return [name, count, before, ...saved]
    }),
  )
}

/** What each format is worth: results that had it are encoded again without it. */
function neededTable(): string {
  const rows = FORMAT_NAMES.filter(name => name !== 'passthrough').map(name => {
    return { name, sent: 0, inside: 0, tokens: 0, worth: 0 }
  })
  let saved = 0
  for (const { text: content } of results) {
    const { format, tokens } = encode({ content })
    if (format === 'passthrough') continue
    saved += tokens.baseline - tokens.final
    const { base, style } = splitFormat(format)
    const inner = new Set([...style.matchAll(/(\w+)@/g)].map(([, id]) => id))
    for (const row of rows) {
      const isSent = base.startsWith(`${row.name}@`)
      if (!isSent && !inner.has(row.name)) continue
      const formats = FORMAT_NAMES.filter(name => name !== row.name)
      row[isSent ? 'sent' : 'inside']++
      row.tokens += tokens.baseline
      row.worth += encode({ content, formats }).tokens.final - tokens.final
    }
  }
  return markdownTable(
    ['format', 'sent', 'inside texts', 'tokens in', 'more without it', 'of all saved'],
    rows
      .filter(({ sent, inside }) => sent + inside > 0)
      .map(({ name, sent, inside, tokens, worth }) => {
        return [name, sent, inside, tokens, worth, percent(worth, saved)]
      }),
  )
}

const ofModels = (variant: object) => ({ profiles: { llm: { variants: { default: variant } } } })
const fromSize = (shape_thresholds: object) => ({ mckp: { shape_thresholds } })
const enabled = pipelineSchema.parse({}).mckp.formats_enabled

const SETTINGS: Readonly<Record<string, object>> = {
  defaults: {},
  'inline_json_cost = 2.2': {
    profiles: { tokenizer: { variants: { o200k_base: { inline_json_cost: 2.2 } } } },
  },
  'prefer_explicit_keys = true': ofModels({ prefer_explicit_keys: true }),
  'max_inline_nested = 512': ofModels({ max_inline_nested: 512 }),
  'max_inline_nested = 64': ofModels({ max_inline_nested: 64 }),
  'recursion_depth = 3': { mckp: { recursion_depth: 3 } },
  'array_of_objects_min_items = 4': fromSize({ array_of_objects_min_items: 4 }),
  'array_of_objects_min_key_stability = 0.7': fromSize({ array_of_objects_min_key_stability: 0.7 }),
  'flat_object_min_fields = 8': fromSize({ flat_object_min_fields: 8 }),
  'markdown_table_min_cols = 3': fromSize({ markdown_table_min_cols: 3 }),
  'formats_enabled without tree': {
    mckp: { formats_enabled: enabled.filter(id => id !== 'tree') },
  },
}

/** Tokens of all results under each setting, and how many more than usual they are. */
function settingsTable(): string {
  const json = results.filter(({ text }) => isContainer(text))
  const texts = results.filter(({ text }) => !isContainer(text))
  const context = { ...createLocalContext(), keepsOriginals: false }
  const tokensOf = (set: typeof results, toml: object) => {
    const pipeline = pipelineSchema.parse(toml)
    return set.reduce((sum, { text, tool }) => {
      const { answer } = encodeOperation.run({ content: text, tool }, { ...context, pipeline })
      return sum + answer.tokens.final
    }, 0)
  }
  const usual = [json, texts].map(set => tokensOf(set, {}))
  return markdownTable(
    ['', `${json.length} JSON results`, 'more', `${texts.length} texts`, 'more'],
    Object.entries(SETTINGS).map(([name, toml]) => [
      `\`${name}\``,
      ...[json, texts].flatMap((set, i) => {
        const tokens = tokensOf(set, toml)
        return [tokens, `${(100 * (tokens / usual[i]! - 1)).toFixed(2)} %`]
      }),
    ]),
  )
}

let isAbove = false
const PARTS: Record<(typeof options.only)[number], () => string> = {
  documents() {
    const { above, text } = documentTables(readDocuments(options.corpus, results))
    isAbove = above > 0
    return text
  },
  shapes: shapesTable,
  needed: neededTable,
  settings: settingsTable,
}

const { node, date } = machine()
const about = `${results.length} results, Node ${node}, ${date}. Tokens of o200k_base are counted, not timed.`
const found = options.only.flatMap(name => [`### ${name}`, PARTS[name]()])
publish('formats', [about, ...found], options.write)
if (isAbove) process.exitCode = 1
