import { decode } from '../index.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { defineCommand, UsageError } from './command.ts'
import { readInput } from './input.ts'
import { jsonOption } from './options.ts'

export const decodeCommand = defineCommand({
  name: 'decode',
  summary: 'Decode an encoded text',
  examples: ['decode --format csv@1 rows.csv'],
  operands: '[FILE]',
  maxOperands: 1,
  options: {
    format: {
      type: 'string',
      value: 'FORMAT',
      help: 'The format that encode named, e.g. csv@1 (required)',
    },
    ...jsonOption,
  },
  async run(values, [file]) {
    const format = values.format
    if (format === undefined) throw new UsageError('--format is required')
    const answer = decode({ content: await readInput(file), format })
    process.stdout.write(values.json ? `${JSON.stringify(answer)}\n` : answer.content)
    return EXIT.ok
  },
})
