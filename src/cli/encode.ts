import { EXIT } from '../exit-codes.ts'
import { encode, explain } from '../index.ts'
import { type Command, text, UsageError } from './command.ts'
import { readInput } from './input.ts'
import { jsonOption, tokenizerFieldsOf, tokenizerOptions } from './options.ts'
import { percent, table } from './table.ts'

export const encodeCommand: Command = {
  name: 'encode',
  summary: 'Make a tool result smaller; the text goes to stdout, what was done to stderr',
  operands: '[FILE]',
  maxOperands: 1,
  options: {
    ...tokenizerOptions,
    formats: { type: 'string', value: 'LIST', help: 'Only these formats, separated by commas' },
    budget: { type: 'string', value: 'TOKENS', help: 'Fail if the answer would be above' },
    explain: { type: 'boolean', help: 'Show every candidate, its tokens and what became of it' },
    ...jsonOption,
  },
  async run(values, [file]) {
    const formats = text(values, 'formats')
    const budget = text(values, 'budget')
    if (budget !== undefined && !/^\d+$/.test(budget)) {
      throw new UsageError('--budget takes a whole number')
    }
    const request = {
      content: await readInput(file),
      ...tokenizerFieldsOf(values),
      ...(formats === undefined ? {} : { formats: formats.split(',') }),
      ...(budget === undefined ? {} : { budget_tokens: Number(budget) }),
    }
    const answer = encode(request)
    const { tokens, layer, format, shape } = answer
    if (values['explain'] === true) {
      const rows = explain(request).map(({ layer, format, tokens: cost, verdict }) => {
        const saved = cost === null ? '' : percent(tokens.baseline - cost, tokens.baseline)
        return [layer, format, cost ?? '', saved, verdict]
      })
      rows.push(['L3', 'passthrough', tokens.baseline, '', layer === 'L3' ? 'sent' : 'dearer'])
      const inner =
        answer.inner_formats.length === 0 ? '' : ` with ${answer.inner_formats.join(', ')}`
      process.stdout.write(`${shape}${inner}, tokens in ${tokens.tokenizer}\n\n`)
      process.stdout.write(`${table(['layer', 'format', 'tokens', 'saved', 'verdict'], rows)}\n`)
      return EXIT.ok
    }
    if (values['json'] === true) {
      process.stdout.write(`${JSON.stringify(answer)}\n`)
      return EXIT.ok
    }
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
