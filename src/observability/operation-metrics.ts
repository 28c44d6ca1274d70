import type { SentReport } from '../core/contract/operation-result.ts'
import type { ResultRow } from '../core/contract/result-row.ts'
import { type Register, SECONDS } from './register.ts'

const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216]
const JOBS = [1, 2, 4, 8, 16, 32, 64]

/** Requests and their jobs. */
export interface OperationMetrics {
  /** One finished request; sizes in bytes, times in milliseconds. */
  request(route: string, status: number, totalMs: number, bodyBytes: number): void
  job(op: string, queueMs: number, workMs: number): void
  /** One message to a thread, with this many jobs. */
  batch(jobs: number): void
  /** A candidate was declined because this format, or step of an operation, threw. */
  fault(format: string): void
}

/** How long requests and their jobs take, and how large they are. */
export function createOperationMetrics({ histogram, counter }: Register): OperationMetrics {
  const requestTime = histogram(
    'haversack_request_seconds',
    'Time to answer a request',
    SECONDS,
    'route',
    'status',
  )
  const queueTime = histogram(
    'haversack_queue_seconds',
    'Time that jobs waited for a thread',
    SECONDS,
    'op',
  )
  const workTime = histogram(
    'haversack_work_seconds',
    'Time that jobs took in a thread',
    SECONDS,
    'op',
  )
  const bodyBytes = histogram('haversack_request_body_bytes', 'Size of request bodies', BYTES)
  const faults = counter(
    'haversack_format_faults_total',
    'Candidates that were declined because their format threw',
    ['format'],
  )
  const batchJobs = histogram('haversack_batch_jobs', 'Jobs in one message to a thread', JOBS)
  return {
    request(route, status, totalMs, bytes) {
      requestTime(totalMs / 1000, route, status)
      if (bytes > 0) bodyBytes(bytes)
    },
    job(op, queueMs, workMs) {
      queueTime(queueMs / 1000, op)
      workTime(workMs / 1000, op)
    },
    batch: jobs => batchJobs(jobs),
    fault: format => faults.inc({ format }),
  }
}

const TOKENS = [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]

/** Tool results. */
export interface ResultMetrics {
  /** @param row of the report's result; `null`: there is none, or it is not counted */
  report(report: SentReport, row: ResultRow | null): void
}

/** Views with labels of their own; configured ones beyond them share one. */
const MOST_VIEWS = 64
const OTHER_VIEWS = 'others'

/** How tool results were encoded, and how many tokens that saved. */
export function createResultMetrics({ histogram, counter }: Register): ResultMetrics {
  const tokensIn = histogram('haversack_tokens_in', 'Tokens of an encoded input as it came', TOKENS)
  const tokensOut = histogram(
    'haversack_tokens_out',
    'Tokens of an encoded input as it left',
    TOKENS,
  )
  const tokensSaved = counter(
    'haversack_tokens_saved_total',
    'Tokens that encoded inputs were spared, by what spared them',
    ['by'],
  )
  const results = counter('haversack_results_total', 'Encoded results by layer, format and shape', [
    'layer',
    'format',
    'shape',
  ])
  const refusals = counter('haversack_gate_refusals_total', 'Candidates that the gate kept back', [
    'format',
    'reason',
  ])
  const lookAlikes = counter(
    'haversack_look_alikes_total',
    'Places of tool results that look like hints of the service, escaped in what it sent',
    ['op'],
  )
  const hostBlocks = counter(
    'haversack_host_blocks_total',
    'Blocks of hosts in new tool results, such as <system-reminder>; they stay as they are',
    ['op'],
  )
  const hostTokens = counter('haversack_host_block_tokens_total', 'Tokens of those blocks', ['op'])
  const viewTokens = counter('haversack_view_tokens_total', 'Tokens that views left out', ['view'])
  const views = new Set<string>()
  const viewLabel = (view: string) => {
    if (views.size < MOST_VIEWS) views.add(view)
    return views.has(view) ? view : OTHER_VIEWS
  }
  return {
    report(report, row) {
      const escaped = report.look_alikes ?? report.rewrite?.look_alikes ?? 0
      if (escaped > 0) lookAlikes.inc({ op: report.op }, escaped)
      const said = report.host_blocks ?? report.rewrite?.host_blocks
      if (said !== undefined) {
        hostBlocks.inc({ op: report.op }, said.blocks)
        hostTokens.inc({ op: report.op }, said.tokens)
      }
      if (row === null) return
      const { layer, format, view } = row.sent
      const { before, after, referred, omitted } = row.tokens
      results.inc({ layer, format, shape: row.input.shape })
      tokensIn(before)
      tokensOut(after)
      tokensSaved.inc({ by: 'dedup' }, referred)
      tokensSaved.inc({ by: 'encoder' }, Math.max(0, before - after - omitted - referred))
      tokensSaved.inc({ by: 'omission' }, omitted)
      if (view !== null) viewTokens.inc({ view: viewLabel(view) }, omitted)
      for (const refusal of row.refusals) refusals.inc({ ...refusal })
    },
  }
}
