import { commonBytes } from '../parse/shared-messages.ts'

/**
 * About 1,024 tokens: a shorter prefix is not cached
 * (docs.claude.com/en/docs/build-with-claude/prompt-caching).
 */
const LEAST_BYTES = 4_096
/** Bytes that are searched for, and places that they are taken from. */
const PROBE_BYTES = 256
const PROBES = 4

/**
 * Where a text begins in a prompt that another prompt has behind another beginning. Returns `null`
 * if none is found. A text is found if it has a fifth of what is behind the common beginning.
 */
export function equalText(earlier: Buffer, later: Buffer): number | null {
  const shared = commonBytes(earlier, later)
  const rest = later.length - shared
  if (rest < LEAST_BYTES || earlier.length - shared < LEAST_BYTES) return null
  for (let probe = 1; probe <= PROBES; probe++) {
    const at = shared + Math.floor((rest * probe) / (PROBES + 1))
    const other = earlier.indexOf(later.subarray(at, at + PROBE_BYTES), shared)
    if (other === -1) continue
    const start = at - equalBefore(earlier, later, { other, at, shared })
    const end = at + commonBytes(earlier.subarray(other), later.subarray(at))
    if (end - start >= LEAST_BYTES) return start
  }
  return null
}

interface Places {
  readonly other: number
  readonly at: number
  readonly shared: number
}

function equalBefore(earlier: Buffer, later: Buffer, { other, at, shared }: Places): number {
  const most = Math.min(other, at) - shared
  let count = 0
  while (count < most && earlier[other - 1 - count] === later[at - 1 - count]) count++
  return count
}
