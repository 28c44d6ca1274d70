import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { percent } from '../src/console/table.ts'
import { countTokens } from '../src/lab/bill/play.ts'
import { createRandom } from '../src/lab/bill/statistics.ts'
import { publicName } from '../src/mcp/catalogue/catalogue.ts'
import { readUsage } from './bill/read-usage.ts'
import {
  billOf,
  breakEven,
  codingLists,
  connect,
  type Definition,
  type Lists,
  npmLists,
  readCorpus,
  tokensOf,
} from './definitions/lists.ts'
import { machine } from './support/machine.ts'
import { tableOf } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

/**
 * npm run bench -- definitions CORPUS [--draws N]
 *
 * Tool definitions on demand: tokens of lists of real servers before and after; whether queries
 * that a model wrote find the tool that it called next; and the input bill of recorded sessions
 * (`bill/usage.jsonl`) with these lists.
 */
const options = readOptions({ corpus: REQUIRED, draws: 5 })
const corpus = readCorpus(options.corpus)
const usage = readFileSync(join(options.corpus, 'bill', 'usage.jsonl'), 'utf8')
const sessions = readUsage(usage, () => null)

const textsOf = (result: { content: { text: string }[] }) => result.content.map(({ text }) => text)

/** Tokens of an answer with five definitions, by queries for the first tools of each server. */
async function answerTokens(lists: Lists): Promise<number> {
  const { find } = await connect(lists, 'always')
  const queries = [...lists].flatMap(([, tools]) => tools.slice(0, 5))
  let tokens = 0
  for (const { name } of queries) {
    tokens += countTokens(textsOf(await find(name.replaceAll('_', ' '))).join('\n'))
  }
  return tokens / queries.length
}

async function listRow(list: string, lists: Lists) {
  const before = (await connect(lists, 'never')).list as readonly Definition[]
  const after = (await connect(lists, 'always')).list as readonly Definition[]
  const answer = await answerTokens(lists)
  const [all, listed] = [tokensOf(before), tokensOf(after)]
  const total = (definitions: number, searches: number) =>
    sessions.reduce((sum, each) => sum + billOf(each, { definitions, searches, answer }), 0)
  const pays = (searches: number) =>
    Math.round(breakEven(sessions, { definitions: listed, searches, answer }))
  return {
    ...{ list, tools: before.length, tokens: all, listed: after.length, after: listed },
    'bill with two searches': percent(total(listed, 2), total(all, 0)),
    ...{ 'two pay from': pays(2), 'four pay': pays(4) },
  }
}

/** Places at which queries find their tool, in lists with others' servers. */
async function recallRow(servers: number) {
  const random = createRandom(1)
  const names = [...corpus.recorded.keys()]
  const found = { whole: 0, all: 0, named: 0 }
  let [asked, tools, ms] = [0, 0, 0]
  for (const { query, server, tool } of corpus.queries) {
    for (let draw = 0; draw < (servers === names.length ? 1 : options.draws); draw++) {
      const chosen = new Set([server])
      while (chosen.size < servers) chosen.add(names[random(names.length)]!)
      const lists = new Map([...chosen].map(name => [name, corpus.recorded.get(name)!]))
      const { find } = await connect(lists, 'always')
      const name = publicName(server, tool)
      const isWhole = (texts: readonly string[]) =>
        texts.some(text => text.includes(`{"name":"${name}"`))
      await find('first') // reads the words of all tools
      const started = performance.now()
      const texts = textsOf(await find(query))
      ms += performance.now() - started
      if (isWhole(texts)) found.whole++
      if (isWhole(texts) || texts.some(text => text.includes(`\n${name} (`))) found.all++
      if (isWhole(textsOf(await find(name)))) found.named++
      asked++
      tools += [...lists.values()].reduce((sum, each) => sum + each.length, 0)
    }
  }
  return {
    ...{ servers, tools: Math.round(tools / asked), 'whole five': percent(found.whole, asked) },
    ...{ fifteen: percent(found.all, asked), 'by name': percent(found.named, asked) },
    ms: (ms / asked).toFixed(2),
  }
}

const lists: readonly (readonly [string, Lists])[] = [
  ['three npm servers', await npmLists()],
  ['GitHub default, Playwright, Context7, filesystem', codingLists(corpus)],
  ['GitHub, all', new Map([['github', corpus.github]])],
]
const rows = []
for (const [name, list] of lists) rows.push(await listRow(name, list))
const recall = []
for (const servers of [3, 6, 12, 25, corpus.recorded.size]) recall.push(await recallRow(servers))
process.stdout.write(`${tableOf(rows)}\n\n${tableOf(recall)}\n\n${JSON.stringify(machine())}\n`)
