import { sessionKey } from '../../src/core/sessions/index/session-index.ts'
import { attachBodyMemory } from '../../src/core/sessions/lines/body-memory.ts'
import { decodeLines } from '../../src/core/sessions/lines/decode-lines.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { encodeLines, planLines } from '../../src/core/sessions/lines/plan-lines.ts'
import { scanText } from '../../src/core/sessions/lines/scan-text.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import { HOSTILE_TEXTS, type TextPair } from './hostile-texts.ts'
import type { Table } from './table.ts'

const SIZES = [10_000, 100_000, 1_000_000, 10_000_000]
/**
 * Bytes that are worked through for one figure: enough for a clock that ticks every few
 * milliseconds.
 */
const BYTES_A_FIGURE = 30_000_000
const MEMORY_BYTES = 1 << 28

/**
 * Hashing a text's lines, finding and pricing its runs, and keeping a body, in a text of which
 * every fiftieth line is new, and in texts made to be hard. Every plan is decoded and compared.
 */
export function measureSpeed(counter: TokenCounter): readonly Table[] {
  const head = ['text', ...SIZES.map(size => `${size.toLocaleString('en')} B`), 'keep, 10 MB']
  const rows = HOSTILE_TEXTS.map(({ name, make }) => {
    const figures = SIZES.map(size => measureOne(name, make(size), counter))
    return [name, ...figures.map(({ match }) => match), figures.at(-1)!.keep]
  })
  return [{ title: 'Hash, match and price, MB per second of processor time', head, rows }]
}

function measureOne(name: string, { earlier, later }: TextPair, counter: TokenCounter) {
  const memory = attachBodyMemory(createBodyMemory({ bytes: MEMORY_BYTES }))
  const key = sessionKey('bench', name)
  const scanned = scanText(earlier, key)
  if (scanned === null) return { match: 'declined', keep: '' }
  const keep = threadMs()
  memory.put(scanned, key, IDENTITY)
  const kept = threadMs()

  const find = () => ({ ref: REF })
  const run = () => {
    const text = scanText(later, key)
    const options = { counter, verbosity: 'terse' } as const
    return text === null ? null : planLines(text, { memory, key, find }, options)
  }
  const plan = run()
  if (plan !== null && decodeLines(encodeLines(plan), () => earlier, later.length) !== later) {
    throw new Error(`${name}: not the same text`)
  }
  const rounds = Math.ceil(BYTES_A_FIGURE / later.length)
  const start = threadMs()
  for (let round = 0; round < rounds; round++) run()
  return {
    match: perSecond(later.length * rounds, threadMs() - start),
    keep: perSecond(earlier.length, kept - keep),
  }
}

function perSecond(bytes: number, ms: number): string {
  return (bytes / 1e3 / ms).toFixed(0)
}

/** Processor time of this thread in ms: other work on the machine does not stretch it. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e3
}

const IDENTITY = 'ab'.repeat(32)
const REF = IDENTITY.slice(0, 8)
