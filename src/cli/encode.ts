import { encode } from '../index.ts'
import { type Command, EXIT, text, UsageError } from './command.ts'
import { readInput } from './input.ts'
import { jsonOption, tokenizerFieldsOf, tokenizerOptions } from './options.ts'

export const encodeCommand: Command = {
  name: 'encode',
  summary: 'Make a tool result smaller; the text goes to stdout, what was done to stderr',
  operands: '[FILE]',
  maxOperands: 1,
  options: {
    ...tokenizerOptions,
    formats: { type: 'string', value: 'LIST', help: 'Only these formats, separated by commas' },
    budget: { type: 'string', value: 'TOKENS', help: 'Fail if the answer would be above' },
    ...jsonOption,
  },
  async run(values, [file]) {
    const formats = text(values, 'formats')
    const budget = text(values, 'budget')
    if (budget !== undefined && !/^\d+$/.test(budget)) {
      throw new UsageError('--budget takes a whole number')
    }
    const answer = encode({
      content: await readInput(file),
      ...tokenizerFieldsOf(values),
      ...(formats === undefined ? {} : { formats: formats.split(',') }),
      ...(budget === undefined ? {} : { budget_tokens: Number(budget) }),
    })
    if (values['json'] === true) {
      process.stdout.write(`${JSON.stringify(answer)}\n`)
      return EXIT.ok
    }
    const { tokens, layer, format, shape } = answer
    process.stdout.write(answer.content)
    // A terminal shows both streams: keep the last line of the text to itself.
    if (process.stdout.isTTY) process.stderr.write('\n')
    process.stderr.write(
      `${shape}, ${layer}, format ${format}: ${tokens.baseline} → ${tokens.final} tokens ` +
        `(${tokens.tokenizer}${tokens.exact ? '' : ', estimated'})\n`,
    )
    return EXIT.ok
  },
}
