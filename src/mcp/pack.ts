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
  onReport(report: SentReport): void
  onBug(error: unknown): void
}

/** A shorter result cannot get smaller. */
const SMALLEST_BYTES = 64

/**
 * Makes results smaller in the worker threads. The result itself goes on if anything fails. A
 * result with markers leaves only once the originals are durable; else a lossless one does.
 */
export function createPacker(
  needs: PackerNeeds,
): (result: JsonBytes, terms: ResultTerms) => Promise<JsonBytes> {
  const { pool, tenant, timeoutMs, onReport, onBug } = needs

  const run = (body: JsonBytes, result: ResultTerms): Promise<JobResult> => {
    const terms: RequestTerms = { redeems: mayOmit(result), bypass: false, result }
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

  return async (result, terms) => {
    if (result.length < SMALLEST_BYTES) return result
    try {
      let packed = await run(result, terms)
      if (packed.ok && !(await areKept(packed.keep, needs))) {
        const { omitted_fields: _, markup: __, ...rest } = terms
        packed = await run(result, { ...rest, mode: 'lossless' })
      }
      if (!packed.ok) return result
      for (const report of packed.reports) onReport(report)
      const { body } = packed
      return body.length === 0 ? result : Buffer.from(body.buffer, body.byteOffset, body.length)
    } catch (error) {
      onBug(error)
      return result
    }
  }
}

function mayOmit({ mode, omitted_fields = [], markup }: ResultTerms): boolean {
  return mode !== 'lossless' || omitted_fields.length > 0 || markup !== undefined
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
