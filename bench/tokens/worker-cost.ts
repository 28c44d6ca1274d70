import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Vocabularies } from '../../src/core/tokens/vocabulary.ts'
import { generatedTexts } from '../support/generated-text.ts'
import { median } from '../support/statistics.ts'

const WORKERS = 4

export interface WorkerCost {
  /** Resident memory of a worker with both counters, beyond that of a worker that does nothing. */
  readonly memory_mb: number
  /** From its first line to the first count of both encodings, loading the modules included. */
  readonly first_count_ms: number
}

/** Starts workers that count and workers that do not, and compares. */
export async function measureWorkerCost(vocabularies: Vocabularies): Promise<WorkerCost> {
  await startWorkers(null)
  const idle = await startWorkers(null)
  const counting = await startWorkers(vocabularies)
  return {
    memory_mb: (counting.memory - idle.memory) / WORKERS / 1e6,
    first_count_ms: median(counting.first_count_ms),
  }
}

async function startWorkers(vocabularies: Vocabularies | null) {
  const before = process.memoryUsage.rss()
  const text = generatedTexts(3, 1)[0]!
  const workers: Worker[] = []
  const first_count_ms: number[] = []
  for (let i = 0; i < WORKERS; i++) {
    const worker = new Worker(new URL('counting-worker.ts', import.meta.url), {
      workerData: { vocabularies, text },
    })
    workers.push(worker)
    const [message] = (await once(worker, 'message')) as [{ first_count_ms: number }]
    first_count_ms.push(message.first_count_ms)
  }
  await sleep(200)
  const memory = process.memoryUsage.rss() - before
  await Promise.all(workers.map(worker => worker.terminate()))
  return { memory, first_count_ms }
}
