import { budgets } from './reduced/budgets.ts'
import { conversations, elided, lists, views } from './reduced/parts.ts'
import { machine } from './support/machine.ts'
import { publish } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

/**
 * npm run bench -- results CORPUS [--only NAME,… --write]
 *
 * What is saved of recorded results and what is left of them. `elided`: by kind and source, with
 * critical parts and markers. `conversations`: as `POST /v1/compress` writes them, with references,
 * by level of reading, and with levels of views from 20,000 tokens on. `views`: each level, every
 * answer given back; how often later calls quote what was hidden. `lists`: lists and diffs at 8,000
 * tokens. `budgets`: what is kept of JSON payloads, beside a knapsack of whole items.
 */
const options = readOptions({
  corpus: REQUIRED,
  only: ['elided', 'conversations', 'views', 'lists', 'budgets'],
  write: false,
})

const { corpus } = options
const PARTS: Record<(typeof options.only)[number], () => string | Promise<string>> = {
  elided: () => elided(corpus),
  conversations: () => conversations(corpus),
  views: () => views(corpus),
  lists: () => lists(corpus),
  budgets: () => budgets(corpus),
}

const { node, date } = machine()
const parts = [`Node ${node}, ${date}. Tokens of o200k_base are counted, not timed.`]
for (const name of options.only) parts.push(`### ${name}`, await PARTS[name]())
publish('results', parts, options.write)
