import { randomUUID } from 'node:crypto'
import { AppError } from '../core/base/errors.ts'
import type { SentReport } from '../core/contract/operation-result.ts'
import type { RequestTerms, ResultTerms } from '../core/contract/request-terms.ts'
import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { PACK_RESULT } from '../core/operations/pack-result.ts'
import type { JobResult } from '../pool/job.ts'
import type { WorkerPool } from '../pool/pool.ts'
import type { Originals } from '../store/originals.ts'

export interface PackerNeeds {
  readonly pool: Pick<WorkerPool, 'run'>
  readonly originals: Pick<Originals, 'keep'>
  readonly tenant: string
  /** What a result may be worked on, in milliseconds; later it goes on unchanged. */
  readonly timeoutMs: number
  onReport(report: SentReport, server: string): void
  onBug(error: unknown): void
}

/** A shorter result cannot get smaller. */
const SMALLEST_BYTES = 64

/**
 * Whether a thread may find something to pack. To look for names takes a hundredth of the way to a
 * thread and back; a name with an escape in it may be any.
 */
function mayHaveText(result: JsonBytes): boolean {
  return NAMES_OF_TEXT.some(name => result.includes(name))
}

const NAMES_OF_TEXT = ['"text"', '"structuredContent"', '\\u'].map(name => Buffer.from(name))

/**
 * Makes results smaller in the worker threads. The result itself goes on if anything fails. A
 * result with markers leaves only once the originals are durable; else a lossless one does.
 */
export function createPacker(
  needs: PackerNeeds,
): (result: JsonBytes, terms: ResultTerms, server: string) => Promise<JsonBytes> {
  const { pool, tenant, timeoutMs, onReport, onBug } = needs

  const run = (body: JsonBytes, result: ResultTerms): Promise<JobResult> => {
    const terms: RequestTerms = { redeems: result.mode !== 'lossless', bypass: false, result }
    return pool.run({
      op: PACK_RESULT,
      tenant,
      media: 'json',
      accept: 'json',
      body,
      retained: true,
      requestId: randomUUID(),
      limitMs: timeoutMs,
      terms,
    })
  }

  return async (result, terms, server) => {
    if (result.length < SMALLEST_BYTES || !mayHaveText(result)) return result
    try {
      let packed = await run(result, terms)
      if (packed.ok && !(await areKept(packed.keep, needs))) {
        packed = await run(result, { ...terms, mode: 'lossless' })
      }
      if (!packed.ok) return result
      for (const report of packed.reports) onReport(report, server)
      const { body } = packed
      return body.length === 0 ? result : Buffer.from(body.buffer, body.byteOffset, body.length)
    } catch (error) {
      onBug(error)
      return result
    }
  }
}

async function areKept(
  items: Extract<JobResult, { ok: true }>['keep'],
  { originals, tenant }: PackerNeeds,
): Promise<boolean> {
  try {
    await Promise.all(items.map(text => originals.keep(tenant, text)))
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}
