import { processEnv } from '../../config/env.ts'
import { cacheFolder } from '../../config/user-folders.ts'
import { defineCommand } from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import { choice } from '../../console/options.ts'
import { tokenIds } from '../../core/tokens/token-ids.ts'
import { openVocabulary } from '../../core/tokens/vocabulary.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { loadVocabularies } from '../../runtime/vocabulary.ts'

const ENCODINGS = ['o200k_base', 'cl100k_base'] as const

export const tokensCommand = defineCommand({
  name: 'tokens',
  examples: ['tokens result.json'],
  operands: '[FILE]',
  maxOperands: 1,
  options: {
    tokenizer: choice(ENCODINGS, {
      value: 'ID',
      help: `${ENCODINGS.join(' or ')} (default the first)`,
      takes: ENCODINGS.join(' or '),
    }),
    json: { type: 'boolean', help: 'Print a JSON array' },
  },
  async run(values, [file]) {
    const { tokenizer = ENCODINGS[0] } = values
    const text = await readInput(file)
    const vocabularies = loadVocabularies({ cacheDir: cacheFolder(processEnv()) })
    const ids = tokenIds(text, openVocabulary(vocabularies[tokenizer]))
    process.stdout.write(values.json ? `[${ids.join(',')}]\n` : `${ids.join(' ')}\n`)
    return EXIT.ok
  },
})
