import { Tokenizer } from 'ai-tokenizer'
import * as aiCl100k from 'ai-tokenizer/encoding/cl100k_base'
import * as aiO200k from 'ai-tokenizer/encoding/o200k_base'
import * as gptCl100k from 'gpt-tokenizer/encoding/cl100k_base'
import * as gptO200k from 'gpt-tokenizer/encoding/o200k_base'
import { createBpeCounter } from '../../src/core/tokens/bpe-counter.ts'
import type { Encoding } from '../../src/core/tokens/profiles.ts'
import { openVocabulary, type Vocabularies } from '../../src/core/tokens/vocabulary.ts'
import { tiktokenIds } from '../../test/support/tiktoken-ids.ts'

export type Count = (text: string) => number

/**
 * Ways to count tokens of an encoding; special-token text as ordinary text where that can be asked
 * for.
 */
export function competitors(encoding: Encoding, vocabularies: Vocabularies): Record<string, Count> {
  const gpt = encoding === 'o200k_base' ? gptO200k : gptCl100k
  const ordinary = { disallowedSpecial: new Set<string>() }
  const ai = new Tokenizer(encoding === 'o200k_base' ? aiO200k : aiCl100k)
  return {
    haversack: createBpeCounter(openVocabulary(vocabularies[encoding])).count,
    tiktoken: text => tiktokenIds(text, encoding).length,
    'gpt-tokenizer': text => gpt.countTokens(text, ordinary),
    'ai-tokenizer': text => ai.count(text),
  }
}
