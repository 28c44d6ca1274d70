import { guardLine } from './guard-line.ts'
import type { LinePlan } from './plan-lines.ts'

/** The answer: new lines as they are, one line for each run. Format `lines@1`. */
export function encodeLines({ text: { bytes, starts, lines }, runs }: LinePlan): string {
  const out: string[] = []
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const literal = (from: number, end: number) => {
    if (from === end) return
    const part = buffer.toString('utf8', starts[from]!, starts[end]! - 1)
    for (const line of part.split('\n')) out.push(guardLine(line))
  }
  let at = 0
  for (const { from, end, reference } of runs) {
    literal(at, from)
    out.push(reference)
    at = end
  }
  literal(at, lines)
  return out.join('\n')
}
