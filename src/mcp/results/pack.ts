import { randomUUID } from 'node:crypto'
import { AppError } from '../../core/base/errors.ts'
import type { SentReport } from '../../core/contract/operation-result.ts'
import type { RequestTerms, ResultTerms } from '../../core/contract/request-terms.ts'
import { checkLargeJson } from '../../core/json/bytes/check-large-json.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { splice } from '../../core/json/bytes/splice.ts'
import { escapedStrings } from '../../core/operations/escape-strings.ts'
import { PACK_RESULT } from '../../core/operations/result-packer.ts'
import type { Done, JobResult } from '../../pool/job.ts'
import type { WorkerPool } from '../../pool/pool.ts'
import {
  type CommitContext,
  type Prepared,
  prepareAnswer,
} from '../../store/values/commit-answer.ts'

export interface PackerNeeds extends CommitContext {
  readonly pool: Pick<WorkerPool, 'run'>
  /** Longest time of work on a result, in milliseconds. After that it is sent unchanged. */
  readonly timeoutMs: number
  onReport(report: SentReport, server: string): void
  onBug(error: unknown): void
}

/** How a packed result gets to its client. */
export interface Delivery {
  /** Whether its context is still as it was when the call came. Asked before the result leaves. */
  isCurrent(): boolean
  /**
   * Whether it has left for the client. Only what has left may be referred to later. If the front
   * does not say, it leaves right after, unless the client has withdrawn its call.
   */
  hasLeft(): boolean | Promise<boolean>
}

/** @returns the result itself if it cannot be made smaller; never rejects */
export type Pack = (
  result: JsonBytes,
  terms: ResultTerms,
  server: string,
  delivery?: Delivery,
) => Promise<JsonBytes>

/** A shorter result cannot get smaller: its texts are only escaped. */
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
 * Makes results smaller in the worker threads. If anything fails, the result itself is sent.
 * A result with markers or references is sent only once all that they name is durable. Otherwise a
 * lossless one is sent, which refers to nothing.
 */
export function createPacker(needs: PackerNeeds): Pack {
  const { pool, tenant, timeoutMs, onReport, onBug } = needs

  const run = (body: JsonBytes, result: ResultTerms): Promise<JobResult> => {
    const terms: RequestTerms = { redeems: mayLeaveOut(result), bypass: false, result }
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

  /** Returns `null` if the answer must not leave. */
  const prepare = async (packed: Done, delivery: Delivery): Promise<Prepared | null> => {
    const prepared = await prepareOrNull(packed, needs)
    if (prepared === null || delivery.isCurrent()) return prepared
    prepared.commit(false)
    return null
  }

  return async (result, terms, server, delivery = ALONE) => {
    if (result.length < SMALLEST_BYTES) {
      return Buffer.from(splice(result, escapedStrings(result, 0, result.length)))
    }
    if (terms.of !== 'strings' && !mayHaveText(result)) return result
    try {
      let packed = await run(result, terms)
      const prepared = packed.ok ? await prepare(packed, delivery) : null
      if (packed.ok && prepared === null) {
        const { place: _, limit: __, omitted_fields: ___, markup: ____, ...alone } = terms
        packed = await run(result, { ...alone, mode: 'lossless', response_budget: 'full' })
      }
      if (!packed.ok) return result
      for (const report of packed.reports) onReport(report, server)
      if (prepared !== null) settle(prepared, delivery, onBug)
      const { body } = packed
      if (body.length === 0) return result
      const smaller = Buffer.from(body.buffer, body.byteOffset, body.length)
      await checkLargeJson(smaller)
      return smaller
    } catch (error) {
      onBug(error)
      return result
    }
  }
}

function mayLeaveOut(terms: ResultTerms): boolean {
  const { mode, omitted_fields = [], markup, response_budget: wish = 'full' } = terms
  const mayOmit = omitted_fields.length > 0 || markup !== undefined
  return mode !== 'lossless' || mayOmit || wish !== 'full'
}

/** The delivery of a result that refers to nothing. */
const ALONE: Delivery = { isCurrent: () => true, hasLeft: () => true }

function settle(prepared: Prepared, delivery: Delivery, onBug: (error: unknown) => void): void {
  const hasLeft = delivery.hasLeft()
  if (typeof hasLeft === 'boolean') prepared.commit(hasLeft)
  else hasLeft.then(prepared.commit, () => prepared.commit(false)).catch(onBug)
}

/** Returns `null` if something that must be durable is not. */
async function prepareOrNull(packed: Done, context: CommitContext): Promise<Prepared | null> {
  try {
    const prepared = await prepareAnswer(packed, context)
    return prepared.kept === null ? null : prepared
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
