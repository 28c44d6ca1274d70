import { sessionKey } from '../../src/core/dedup/index/session-key.ts'
import { attachBodyMemory } from '../../src/core/dedup/lines/body-memory.ts'
import { decodeLines } from '../../src/core/dedup/lines/decode-lines.ts'
import { encodeLines } from '../../src/core/dedup/lines/encode-lines.ts'
import { createBodyMemory } from '../../src/core/dedup/lines/memory-layout.ts'
import { planLines } from '../../src/core/dedup/lines/plan-lines.ts'
import { scanText } from '../../src/core/dedup/lines/scan-text.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import { median } from '../machine.ts'
import { HOSTILE_TEXTS } from './hostile-texts.ts'
import type { Table } from './table.ts'

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000]
/** Bytes that are worked through for one figure, and rounds at least. */
const BYTES_A_FIGURE = 20_000_000
const MIN_ROUNDS = 3
const MEMORY_BYTES = 1 << 29

/**
 * MB/s of hashing a text's lines and of finding and pricing its runs, in a text of which every fiftieth line is new, and in
 * texts made to be hard. Every plan is decoded and compared.
 */
export function measureSpeed(counter: TokenCounter): readonly Table[] {
  const head = ['text', ...SIZES.map(size => `${size.toLocaleString('en')} B`), 'keep, 10 MB']
  const rows = HOSTILE_TEXTS.map(({ name, make }) => {
    const memory = attachBodyMemory(createBodyMemory({ bytes: MEMORY_BYTES }))
    const figures = SIZES.map(size => {
      const { earlier, later } = make(size)
      const key = sessionKey('bench', `${name} ${size}`)
      const scanned = scanText(earlier, key)
      if (scanned === null) return { match: 'declined', keep: '' }
      const keepStart = performance.now()
      memory.put(scanned, key, IDENTITY)
      const keep = size / 1e3 / (performance.now() - keepStart)
      const times: number[] = []
      for (let done = 0; done < BYTES_A_FIGURE || times.length < MIN_ROUNDS; done += size) {
        const start = performance.now()
        const text = scanText(later, key)
        const plan =
          text === null
            ? null
            : planLines(
                text,
                { memory, key, find: () => ({ ref: REF }) },
                { counter, verbosity: 'terse' },
              )
        times.push(performance.now() - start)
        if (plan === null || times.length > 1) continue
        const decoded = decodeLines(encodeLines(plan), () => earlier, later.length)
        if (decoded !== later) throw new Error(`${name}: not the same text`)
      }
      return { match: (later.length / 1e3 / median(times)).toFixed(0), keep: keep.toFixed(0) }
    })
    return [name, ...figures.map(({ match }) => match), figures.at(-1)!.keep]
  })
  return [{ title: 'Hash, match and price, MB/s', head, rows }]
}

const IDENTITY = 'ab'.repeat(32)
const REF = IDENTITY.slice(0, 8)
