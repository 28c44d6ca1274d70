import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percent } from '../../../src/console/table.ts'
import { CONSTRUCTS } from '../../../src/core/reading/constructs.ts'
import { createTokenCounters } from '../../../src/core/tokens/counters.ts'
import type { ChatEndpoint } from '../../../src/lab/bench/chat-completion.ts'
import { loadVocabularies } from '../../../src/runtime/vocabulary.ts'
import { markdownTable } from '../../support/markdown-table.ts'
import { ask, askPatiently } from '../ask.ts'
import { intervalText } from '../model-results.ts'
import { AnswersFile, askAll, priceRows, pricesSection } from './answers-file.ts'
import { isRight, type Pair } from './pair.ts'
import { allPairs } from './pairs.ts'

interface Terms {
  /** `null`: plain readers answer. */
  readonly endpoint: ChatEndpoint | null
  /** Pairs for each construct. */
  readonly pairs: number
  readonly maxTokens: number
  readonly errorTokens: number
  /** Where the answers of each model are kept. */
  readonly folder: string
  readonly json: boolean
}

/**
 * What constructs cost in answers. A model is asked about both texts of each pair; what it answered
 * before is kept. Without a model, plain readers prove that every gold answer is in the text with
 * the construct.
 * @throws Error if the model does not answer
 */
export async function examineConstructs(
  terms: Terms,
): Promise<{ readonly ok: boolean; readonly text: string }> {
  const counter = createTokenCounters(
    loadVocabularies({ cacheDir: 'node_modules/.cache/haversack' }),
  ).get('o200k_base')
  const pairs = allPairs(terms.pairs, counter)
  const { endpoint, errorTokens, json } = terms
  if (endpoint === null) return plainReport(pairs, text => counter.count(text), json)
  const file = `${endpoint.model.replace(/[^\w.-]+/g, '-')}.jsonl`
  const answers = new AnswersFile(join(terms.folder, file))
  const isWhole = await askAll(
    pairs,
    (text, question) => askPatiently(() => ask(endpoint, text, question), sleep),
    answers,
    { maxTokens: terms.maxTokens, counter },
  )
  const rows = priceRows(answers.all, errorTokens)
  if (json) return { ok: true, text: JSON.stringify({ model: endpoint.model, isWhole, rows }) }
  const table = markdownTable(
    [
      'construct',
      'questions',
      ...['with', 'without'].flatMap(side => [`right ${side}`, '95 % interval']),
      'errors more',
      '95 % interval',
      'price',
    ],
    rows.map(({ construct, asked, right, intervals, more, moreInterval, price }) => [
      construct,
      asked,
      percent(right.with, asked),
      intervalText(intervals.with),
      percent(right.without, asked),
      intervalText(intervals.without),
      (more * 100).toFixed(1),
      intervalText(moreInterval),
      price,
    ]),
  )
  const text = [
    `Answers of ${endpoint.model}; a wrong answer costs ${errorTokens} tokens.`,
    table,
    ...(isWhole ? [] : ['The tokens ended before all questions were asked. Run again to go on.']),
    pricesSection(rows),
  ]
  return { ok: true, text: text.join('\n\n') }
}

function plainReport(
  pairs: readonly Pair[],
  tokens: (text: string) => number,
  json: boolean,
): { readonly ok: boolean; readonly text: string } {
  const rows = CONSTRUCTS.map(construct => {
    const own = pairs.filter(pair => pair.construct === construct)
    const asked = own.flatMap(({ questions }) => questions)
    return {
      construct,
      pairs: own.length,
      asked: asked.length,
      right: asked.filter(question => isRight(question, question.plain())).length,
      kinds: [...new Set(asked.map(({ kind }) => kind))],
      with: own.reduce((sum, pair) => sum + tokens(pair.with.content), 0),
      without: own.reduce((sum, pair) => sum + tokens(pair.without), 0),
    }
  })
  const ok = rows.every(({ right, asked }) => right === asked)
  if (json) return { ok, text: JSON.stringify({ model: null, rows }) }
  const table = markdownTable(
    ['construct', 'pairs', 'questions', 'right', 'tokens with', 'without', 'kinds'],
    rows.map(row => [
      row.construct,
      row.pairs,
      row.asked,
      row.right,
      row.with,
      row.without,
      row.kinds.join(', '),
    ]),
  )
  return { ok, text: `Answers of plain readers; tokens in o200k_base.\n\n${table}` }
}
