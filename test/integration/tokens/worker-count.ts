/** Counts texts with vocabularies that another thread packed. */
import { parentPort, workerData } from 'node:worker_threads'
import { createTokenCounters } from '../../../src/core/tokens/counters.ts'
import { ENCODINGS } from '../../../src/core/tokens/profiles.ts'
import { openVocabulary, type Vocabularies } from '../../../src/core/tokens/vocabulary.ts'

const { vocabularies, texts } = workerData as { vocabularies: Vocabularies; texts: string[] }
const counters = createTokenCounters(vocabularies)
parentPort?.postMessage({
  shared: ENCODINGS.every(id => openVocabulary(vocabularies[id]).pairs.buffer === vocabularies[id]),
  counts: ENCODINGS.map(id => texts.map(text => counters.get(id).count(text))),
})
