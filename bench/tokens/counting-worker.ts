/** A worker for `worker-cost.ts`: counts once if it is given vocabularies, and stays. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Vocabularies } from '../../src/core/tokens/vocabulary.ts'

const { vocabularies, text } = workerData as { vocabularies: Vocabularies | null; text: string }
const started = performance.now()
let tokens = 0
if (vocabularies !== null) {
  const { createTokenCounters } = await import('../../src/core/tokens/counters.ts')
  const counters = createTokenCounters(vocabularies)
  tokens = counters.get('o200k_base').count(text) + counters.get('cl100k_base').count(text)
}
parentPort?.postMessage({ tokens, first_count_ms: performance.now() - started })
parentPort?.on('message', () => process.exit())
