import { resolve } from 'node:path'
import { createTokenCounters } from '../../src/core/tokens/counters.ts'
import { loadVocabularies } from '../../src/runtime/vocabulary.ts'

/** Keeps the packed vocabularies between runs. */
export const CACHE_DIR = resolve(
  import.meta.dirname,
  '../../node_modules/.cache/haversack-test-vocabularies',
)

/** Packed once a clone and read once a process: 17 MB that tests only read. */
export const vocabularies = loadVocabularies({ cacheDir: CACHE_DIR })

export const counters = createTokenCounters(vocabularies)
