import { didYouMean } from '../../config/nearest-name.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import { jsonOption } from '../../console/options.ts'
import { AppError } from '../../core/base/errors.ts'
import { KNOWN_FORMATS } from '../../core/pipeline/layers.ts'
import { decode } from '../../index.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

/** @throws UsageError if the text is no answer of `encode --json` */
function encodedIn(json: string): { readonly content: string; readonly format: string } {
  try {
    const { content, format } = JSON.parse(json) as Record<string, unknown>
    if (typeof content === 'string' && typeof format === 'string') return { content, format }
  } catch {
    // It is another text.
  }
  throw new UsageError('--format is required, unless the text is an answer of encode --json')
}

/** A format that does not exist may be misspelt. @throws AppError */
function decodeNamed(encoded: { readonly content: string; readonly format: string }) {
  try {
    return decode(encoded)
  } catch (error) {
    const isMisspelt = !KNOWN_FORMATS.has(encoded.format)
    if (!(error instanceof AppError) || error.code !== 'not_decodable' || !isMisspelt) throw error
    const named = [...KNOWN_FORMATS].filter(format => format.includes('@'))
    throw new AppError(error.code, error.detail + didYouMean(encoded.format, named))
  }
}

export const decodeCommand = defineCommand({
  name: 'decode',
  details: 'Without --format it takes the whole answer of encode --json, which names the format.',
  examples: ['decode --format csv@1 rows.csv', 'decode answer.json'],
  operands: '[FILE]',
  maxOperands: 1,
  options: {
    format: {
      type: 'string',
      value: 'FORMAT',
      help: 'The format that encode named, e.g. csv@1',
    },
    ...jsonOption,
  },
  async run(values, [file]) {
    const { format } = values
    const text = await readInput(file)
    const answer = decodeNamed(format === undefined ? encodedIn(text) : { content: text, format })
    if (values.json !== true && !answer.content.isWellFormed()) {
      throw new UsageError('it has half of a surrogate pair, which UTF-8 cannot carry: use --json')
    }
    process.stdout.write(values.json ? `${JSON.stringify(answer)}\n` : answer.content)
    return EXIT.ok
  },
})
