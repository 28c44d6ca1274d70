import { readFileSync } from 'node:fs'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Encoding } from '../../src/core/tokens/profiles.ts'
import { decode, encode } from '../../src/index.ts'

/** Tokens over the recorded runs of one component of a peer on JSON, each distinct input once. */
export interface Parity {
  /** The component, as the records name it. */
  readonly component: string
  inputs: number
  raw: number
  /** What the peer recorded; `smart_crusher` leaves rows out, `ccr` adds a tool. */
  peer: number
  /** Ours, which leaves nothing out. */
  ours: number
  /** Inputs for which the peer's answer has fewer tokens than ours. */
  peerBelow: number
}

/** A run of the writer: what went in as JSON, and the text or JSON that came out. */
interface Run {
  readonly component: string
  readonly content: string
  readonly output: string
}

/**
 * The peer's recorded runs, by component. Inputs are JSON texts (`{ input: { content } }`) or JSON
 * themselves.
 */
export function measureParity(
  files: readonly string[],
  encoding: Encoding,
  counter: TokenCounter,
): readonly Parity[] {
  const seen = new Set<string>()
  const sums = new Map<string, Parity>()
  for (const file of files) {
    const run = readRun(JSON.parse(readFileSync(file, 'utf8')))
    if (run === null || seen.has(run.content)) continue
    const { component, content, output } = run
    seen.add(content)
    const sum = sums.get(component) ?? zero(component)
    sums.set(component, sum)
    const ours = encode({ content, tokenizer: encoding })
    if (!isSame(content, decode({ content: ours.content, format: ours.format }).content)) {
      throw new Error(`${file} does not come back`)
    }
    const peer = counter.count(output)
    sum.inputs++
    sum.raw += counter.count(content)
    sum.peer += peer
    sum.ours += ours.tokens.final
    if (peer < ours.tokens.final) sum.peerBelow++
  }
  return [...sums.values()].toSorted((a, b) => b.raw - a.raw)
}

function zero(component: string): Parity {
  return { component, inputs: 0, raw: 0, peer: 0, ours: 0, peerBelow: 0 }
}

function readRun(record: Record<string, unknown>): Run | null {
  const { transform: component, input, output } = record
  if (typeof component !== 'string' || typeof input !== 'object' || input === null) return null
  if (Array.isArray(input)) {
    // Messages, or tools and whether there were changes.
    const { messages } = output as { messages?: unknown }
    const result = Array.isArray(output) ? output[0] : messages
    return { component, content: JSON.stringify(input), output: JSON.stringify(result) }
  }
  const { content } = input as { content?: unknown }
  const { compressed } = output as { compressed?: unknown }
  if (typeof content !== 'string' || typeof compressed !== 'string') return null
  return isContainer(content) ? { component, content, output: compressed } : null
}

function isSame(a: string, b: string): boolean {
  return a === b || JSON.stringify(JSON.parse(a)) === JSON.stringify(JSON.parse(b))
}

function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}
