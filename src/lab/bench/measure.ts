import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeOperation } from '../../core/operations/encode.ts'
import type { OperationContext } from '../../core/operations/operation.ts'
import { decodeContent } from '../../core/pipeline/decode.ts'
import { bodyOf } from '../../core/verify/answer-body.ts'
import type { EncodeAnswer, EncodeRequest } from '../../index.ts'
import { type Originals, StoredOriginals } from '../../store/originals.ts'
import { openSqliteStore } from '../../store/sqlite/client.ts'
import { type BenchKind, missingParts } from './critical.ts'

/** A text to reduce, and the parts of it that must stay. */
export interface Sample {
  readonly name: string
  readonly group: string
  readonly kind: BenchKind
  readonly request: EncodeRequest & { readonly content: string }
  readonly critical: readonly string[]
  /** Whether parts are substrings of what is left, rather than whole lines of it. */
  readonly anywhere?: boolean
}

/** The result of a sample. */
export interface Measured {
  readonly sample: Sample
  readonly answer: EncodeAnswer
  /** Tokens of the smallest lossless text. */
  readonly lossless: number
  readonly missing: readonly string[]
  /** Whether the marker gave the very bytes back; `null` if nothing was left out. */
  readonly restored: boolean | null
}

const TENANT = 'bench'
const HOUR_MS = 3_600_000

/**
 * Reduces texts. Originals are kept in an embedded store in a temporary folder, which is removed at
 * the end.
 */
export async function measureAll(
  samples: readonly Sample[],
  context: OperationContext,
  onDone: () => void,
): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))
  const store = await openSqliteStore({ folder, onEvent: () => {} })
  try {
    const lifetimes = () => ({ originalMs: HOUR_MS, sessionMs: HOUR_MS })
    const originals = new StoredOriginals(store, lifetimes, Date.now)
    const measured: Measured[] = []
    for (const sample of samples) {
      measured.push(await measure(sample, { ...context, keepsOriginals: true }, originals))
      onDone()
    }
    return measured
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(
  sample: Sample,
  context: OperationContext,
  originals: Originals,
): Promise<Measured> {
  const { request, critical, kind } = sample
  const { answer, keep = [] } = encodeOperation.run(
    { ...request, mode: 'elide', min_saved_tokens: 0 },
    context,
  )
  const lossless = encodeOperation.run({ ...request, mode: 'lossless' }, context).answer
  for (const text of keep) await originals.keep(TENANT, text)
  const [marker] = answer.elided
  const body = bodyOf(answer)
  const decoded = body === null ? '' : decodeContent(body.content, body.format, Infinity).content
  const missing =
    sample.anywhere === true
      ? critical.filter(part => !answer.content.includes(part) && !decoded.includes(part))
      : missingParts(critical, decoded, kind)
  if (marker === undefined) {
    return { sample, answer, lossless: lossless.tokens.final, missing, restored: null }
  }
  const kept = await originals.fetch({ tenant: TENANT, ref: marker.hash }, () => {})
  const restored = Buffer.compare(kept.body, Buffer.from(request.content)) === 0
  return { sample, answer, lossless: lossless.tokens.final, missing, restored }
}
