import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { ENCODINGS } from '../../../src/core/tokens/profiles.ts'
import { bundledWorker } from '../../support/bundled-worker.ts'
import { generatedTexts, HOSTILE } from '../../support/generated-text.ts'
import { runs } from '../../support/runs.ts'
import { counters, vocabularies } from '../../support/vocabularies.ts'
import { createXorshift } from '../../support/xorshift.ts'

const MODULE = bundledWorker(new URL('worker-count.ts', import.meta.url))

it('many threads count over one vocabulary at once', async () => {
  const texts = [
    ...generatedTexts(9, runs(200)),
    ...Object.values(HOSTILE).map(make => make(3000, createXorshift(9))),
  ]
  const expected = ENCODINGS.map(id => texts.map(text => counters.get(id).count(text)))
  const before = ENCODINGS.map(id => Buffer.from(new Uint8Array(vocabularies[id]).slice()))
  const answers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const worker = new Worker(MODULE, { workerData: { vocabularies, texts } })
      const [answer] = (await once(worker, 'message')) as [{ shared: boolean; counts: number[][] }]
      await worker.terminate()
      return answer
    }),
  )
  for (const { shared, counts } of answers) {
    expect(shared).toBe(true)
    expect(counts).toEqual(expected)
  }
  // Nobody wrote to it.
  ENCODINGS.forEach((id, i) => {
    expect(Buffer.from(vocabularies[id]).equals(before[i]!)).toBe(true)
  })
})
