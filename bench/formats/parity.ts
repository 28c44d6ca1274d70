import { readFileSync } from 'node:fs'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Encoding } from '../../src/core/tokens/vocabulary.ts'
import { encode } from '../../src/index.ts'

/** Tokens over the recorded runs of a peer on JSON, each distinct input once. */
interface Parity {
  readonly inputs: number
  readonly raw: number
  /** What the peer recorded; it leaves rows out. */
  readonly peer: number
  /** Ours, which leaves nothing out. */
  readonly ours: number
}

/** Records of `{ input: { content }, output: { compressed } }` whose content is a JSON object or array. */
export function measureParity(
  files: readonly string[],
  encoding: Encoding,
  counter: TokenCounter,
): Parity {
  const seen = new Set<string>()
  const sum = { inputs: 0, raw: 0, peer: 0, ours: 0 }
  for (const file of files) {
    const record = readRecord(file)
    if (record === null || seen.has(record.content)) continue
    seen.add(record.content)
    sum.inputs++
    sum.raw += counter.count(record.content)
    sum.peer += counter.count(record.compressed)
    sum.ours += encode({ content: record.content, tokenizer: encoding }).tokens.final
  }
  return sum
}

function readRecord(file: string): { content: string; compressed: string } | null {
  const { input, output } = JSON.parse(readFileSync(file, 'utf8')) as {
    input?: { content?: unknown } | null
    output?: { compressed?: unknown } | null
  }
  const content = input?.content
  const compressed = output?.compressed
  if (typeof content !== 'string' || typeof compressed !== 'string') return null
  return isContainer(content) ? { content, compressed } : null
}

function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
