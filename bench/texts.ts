import { percent } from '../src/cli/table.ts'
import { FORMAT_NAMES } from '../src/core/pipeline/layers.ts'
import { decode, encode } from '../src/index.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'
import { logTexts } from './texts/log-texts.ts'
import { terminalTexts } from './texts/terminal-texts.ts'

/**
 * npm run bench -- texts [--write]
 *
 * What is saved of generated texts of two kinds, each decoded and compared, with all formats and
 * without the one that is for the kind.
 */
const options = readOptions({ write: false })

const KINDS = [
  { name: 'colours and lines written again', format: 'terminal', texts: terminalTexts() },
  { name: 'logs, compilers, linters', format: 'templated', texts: logTexts() },
] as const

interface Sum {
  before: number
  without: number
  after: number
  /** Texts that are sent in the kind's own format. */
  sent: number
}

function measure(texts: readonly string[], format: string): Sum {
  const sum: Sum = { before: 0, without: 0, after: 0, sent: 0 }
  const others = FORMAT_NAMES.filter(name => name !== format)
  for (const content of texts) {
    const answer = encode({ content })
    if (decode({ content: answer.content, format: answer.format }).content !== content) {
      throw new Error(`a text in ${answer.format} does not come back`)
    }
    sum.before += answer.tokens.baseline
    sum.after += answer.tokens.final
    sum.without += encode({ content, formats: others }).tokens.final
    if (answer.format.startsWith(`${format}@`)) sum.sent++
  }
  return sum
}

const rows = KINDS.map(({ name, format, texts }) => {
  const { before, without, after, sent } = measure(texts, format)
  return [
    name,
    texts.length,
    before,
    without,
    after,
    percent(before - after, before),
    `${format}@1`,
    sent,
  ]
})
const report = [
  `Node ${process.version}, tokens in o200k_base.`,
  markdownTable(
    ['texts', 'number', 'as they come', 'without it', 'sent', 'saved', 'format', 'of which so'],
    rows,
  ),
].join('\n\n')
if (options.write) writeSection('texts', report)
process.stdout.write(`${report}\n`)
