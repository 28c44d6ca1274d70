import { defineCommand } from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import { jsonOption, tokenizerFieldsOf, tokenizerOptions } from '../../console/options.ts'
import { alignColumns } from '../../console/table.ts'
import { count } from '../../index.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

export const countCommand = defineCommand({
  name: 'count',
  summary: 'Count the tokens of files, or of standard input',
  examples: ['count --model gpt-5 result.json'],
  operands: '[FILE…]',
  maxOperands: Number.POSITIVE_INFINITY,
  options: { ...tokenizerOptions, ...jsonOption },
  async run(values, files) {
    const names = files.length === 0 ? ['-'] : files
    const contents: string[] = []
    for (const name of names) contents.push(await readInput(name))
    const answer = count({ contents, ...tokenizerFieldsOf(values) })
    const counts = answer.counts ?? []
    if (!answer.exact) process.stderr.write(`estimated (${answer.tokenizer})\n`)
    if (values.json) process.stdout.write(`${JSON.stringify(answer)}\n`)
    else if (counts.length === 1) process.stdout.write(`${counts[0]}\n`)
    else {
      const rows = names.map((name, index) => [counts[index] ?? 0, name])
      process.stdout.write(`${alignColumns(rows).join('\n')}\n`)
    }
    return EXIT.ok
  },
})
