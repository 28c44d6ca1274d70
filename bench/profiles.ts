/**
 * What a key of `pipeline_config.toml` costs or saves in tokens of o200k_base: `npm run
 * bench -- profiles CORPUS [--json]`. Every recorded result is encoded alone, under each
 * configuration.
 */

import { homedir } from 'node:os'
import { join } from 'node:path'
import { readResults } from '../src/cli/replay/read-results.ts'
import { parseJson } from '../src/core/json/parse-json.ts'
import { encodeOperation } from '../src/core/operations/encode.ts'
import {
  type PipelineConfig,
  pipelineSchema,
} from '../src/core/pipeline/profile/pipeline-config.ts'
import { createTokenCounters } from '../src/core/tokens/counters.ts'
import { loadVocabularies } from '../src/runtime/vocabulary.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

const options = readOptions({ corpus: REQUIRED, json: false })

const ofModels = (variant: object) => ({ profiles: { llm: { variants: { default: variant } } } })
const fromSize = (shape_thresholds: object) => ({ mckp: { shape_thresholds } })
const weights = { o200k_base: { inline_json_cost: 2.2 } }

const CONFIGURATIONS: Readonly<Record<string, object>> = {
  defaults: {},
  'reading = "plain"': { reading: { level: 'plain' } },
  'reading = "dense"': { reading: { level: 'dense' } },
  'inline_json_cost = 2.2': { profiles: { tokenizer: { variants: weights } } },
  'prefer_explicit_keys = true': ofModels({ prefer_explicit_keys: true }),
  'max_inline_nested = 512': ofModels({ max_inline_nested: 512 }),
  'max_inline_nested = 128': ofModels({ max_inline_nested: 128 }),
  'max_inline_nested = 64': ofModels({ max_inline_nested: 64 }),
  'recursion_depth = 5': { mckp: { recursion_depth: 5 } },
  'recursion_depth = 3': { mckp: { recursion_depth: 3 } },
  'array_of_objects_min_items = 4': fromSize({ array_of_objects_min_items: 4 }),
  'array_of_objects_min_key_stability = 0.7': fromSize({ array_of_objects_min_key_stability: 0.7 }),
  'flat_object_min_fields = 8': fromSize({ flat_object_min_fields: 8 }),
  'markdown_table_min_cols = 3': fromSize({ markdown_table_min_cols: 3 }),
  'formats_enabled without tree': {
    mckp: {
      formats_enabled: pipelineSchema.parse({}).mckp.formats_enabled.filter(id => id !== 'tree'),
    },
  },
}

const { results } = readResults(options.corpus)
const isContainer = (text: string): boolean => {
  const parsed = parseJson(text)
  return parsed.ok && parsed.value !== null && typeof parsed.value === 'object'
}
const sets = {
  JSON: results.filter(({ text }) => isContainer(text)),
  text: results.filter(({ text }) => !isContainer(text)),
}
const cacheDir = join(homedir(), '.cache', 'haversack')
const context = {
  counters: createTokenCounters(loadVocabularies({ cacheDir })),
  maxDepth: 256,
  maxDecodedChars: 2 ** 24,
  keepsOriginals: false,
}

function tokensUnder(pipeline: PipelineConfig, set: (typeof sets)['JSON']): number {
  return set.reduce((sum, { text, tool }) => {
    const { answer } = encodeOperation.run({ content: text, tool }, { ...context, pipeline })
    return sum + answer.tokens.final
  }, 0)
}

const rows = Object.entries(CONFIGURATIONS).map(([what, toml]) => {
  const pipeline = pipelineSchema.parse(toml)
  return { what, json: tokensUnder(pipeline, sets.JSON), text: tokensUnder(pipeline, sets.text) }
})

/** Tokens, and how many more than usual they are. */
function against(tokens: number, usual: number): [number, string] {
  const more = ((tokens - usual) / usual) * 100
  const sign = more < 0 ? '−' : '+'
  const change = tokens === usual ? 'same' : `${sign}${Math.abs(more).toFixed(2)} %`
  return [tokens, change]
}

if (options.json) console.log(JSON.stringify({ machine: machine(), rows }))
else {
  const [usual] = rows
  const header = ['', `${sets.JSON.length} JSON results`, '', `${sets.text.length} texts`, '']
  const cells = rows.map(({ what, json, text }) => [
    `\`${what}\``,
    ...against(json, usual?.json ?? 0),
    ...against(text, usual?.text ?? 0),
  ])
  console.log(markdownTable(header, cells))
}
