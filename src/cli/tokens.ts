import { tokenIds } from '../core/tokens/token-ids.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { type Command, text, UsageError } from './command.ts'
import { readInput } from './input.ts'

const ENCODINGS = ['o200k_base', 'cl100k_base'] as const

export const tokensCommand: Command = {
  name: 'tokens',
  summary: 'Print the token ids of a text, from tiktoken',
  operands: '[FILE]',
  maxOperands: 1,
  options: {
    tokenizer: {
      type: 'string',
      value: 'ID',
      help: `${ENCODINGS.join(' or ')} (default the first)`,
    },
    json: { type: 'boolean', help: 'Print a JSON array' },
  },
  async run(values, [file]) {
    const named = text(values, 'tokenizer') ?? ENCODINGS[0]
    const encoding = ENCODINGS.find(id => id === named)
    if (encoding === undefined) throw new UsageError(`--tokenizer takes ${ENCODINGS.join(' or ')}`)
    const ids = tokenIds(await readInput(file), encoding)
    process.stdout.write(values['json'] === true ? `[${ids.join(',')}]\n` : `${ids.join(' ')}\n`)
    return EXIT.ok
  },
}
