import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTokenCounters } from '../../src/core/tokens/counters.ts'
import { loadVocabularies } from '../../src/runtime/vocabulary.ts'

/** Packed once a machine and read once a process: 17 MB that tests only read. */
export const vocabularies = loadVocabularies({
  cacheDir: join(tmpdir(), `haversack-test-vocabularies-${process.getuid?.() ?? 0}`),
})

export const counters = createTokenCounters(vocabularies)
