import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTokenCounters } from '../../../../src/core/tokens/counters.ts'
import { loadVocabularies } from '../../../../src/runtime/vocabulary.ts'

/** Packed once for all test files. */
export const vocabularies = loadVocabularies({
  cacheDir: join(tmpdir(), `haversack-test-vocabularies-${process.getuid?.() ?? 0}`),
})

export const counters = createTokenCounters(vocabularies)
