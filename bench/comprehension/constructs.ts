import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { percent } from '../../src/console/table.ts'
import { CONSTRUCTS } from '../../src/core/reading/constructs.ts'
import type { ChatEndpoint } from '../../src/lab/bench/chat-completion.ts'
import { createLocalContext } from '../../src/library/local-context.ts'
import { markdownTable } from '../support/markdown-table.ts'
import {
  ask,
  askAll,
  askPatiently,
  intervalText,
  priceRows,
  pricesSection,
  readAnswers,
  shareInterval,
} from './ask.ts'
import type { Pair } from './pair.ts'
import { allPairs, isRight } from './pairs.ts'

interface Terms {
  /** `null`: plain readers answer. */
  readonly endpoint: ChatEndpoint | null
  /** Pairs for each construct. */
  readonly pairs: number
  readonly maxTokens: number
  readonly errorTokens: number
  /** Where the answers of each model are kept. */
  readonly folder: string
}

/**
 * What constructs cost in answers. A model is asked about both texts of each pair; what it answered
 * before is kept. Without a model, plain readers prove that every gold answer is in the text with
 * the construct.
 * @throws Error if the model does not answer
 */
export async function examineConstructs({
  endpoint,
  errorTokens,
  maxTokens,
  ...terms
}: Terms): Promise<{ readonly ok: boolean; readonly text: string }> {
  const counter = createLocalContext().counters.get('o200k_base')
  const pairs = allPairs(terms.pairs, counter)
  if (endpoint === null) return plainReport(pairs, text => counter.count(text))
  const path = join(terms.folder, `${endpoint.model.replace(/[^\w.-]+/g, '-')}.jsonl`)
  const asking = (text: string, question: string) =>
    askPatiently(() => ask(endpoint, text, question), sleep)
  const isWhole = await askAll(pairs, asking, path, { maxTokens, counter })
  const rows = priceRows(readAnswers(path), errorTokens)
  const table = markdownTable(
    [
      ...['construct', 'questions', 'right with', '95 % interval', 'right without'],
      ...['95 % interval', 'errors more', '95 % interval', 'price'],
    ],
    rows.map(({ construct, asked, right, more, moreInterval, price }) => [
      construct,
      asked,
      ...(['with', 'without'] as const).flatMap(side => [
        percent(right[side], asked),
        intervalText(shareInterval(right[side], asked)),
      ]),
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

function plainReport(pairs: readonly Pair[], tokens: (text: string) => number) {
  const rows = CONSTRUCTS.map(construct => {
    const own = pairs.filter(pair => pair.construct === construct)
    const asked = own.flatMap(({ questions }) => questions)
    const right = asked.filter(question => isRight(question, question.plain())).length
    const sum = (of: (pair: Pair) => string) =>
      own.reduce((total, pair) => total + tokens(of(pair)), 0)
    const sizes = [sum(pair => pair.with.content), sum(pair => pair.without)]
    return [construct, own.length, asked.length, right, ...sizes] as const
  })
  const header = ['construct', 'pairs', 'questions', 'right', 'tokens with', 'without']
  return {
    ok: rows.every(([, , asked, right]) => right === asked),
    text: `Answers of plain readers; tokens in o200k_base.\n\n${markdownTable(header, rows)}`,
  }
}
