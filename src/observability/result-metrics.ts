import type { SentReport } from '../core/contract/report.ts'
import type { Register } from './register.ts'

const TOKENS = [16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]

/** Tool results. */
export interface ResultMetrics {
  report(report: SentReport): void
}

/** What became of tool results, and how many tokens that spared. */
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
  return {
    report({ layer, format, shape, refusals: refused, ...report }) {
      const escaped = report.look_alikes ?? report.rewrite?.look_alikes ?? 0
      if (escaped > 0) lookAlikes.inc({ op: report.op }, escaped)
      if (layer === undefined || format === undefined || shape === undefined) return
      const { tokens_in = 0, tokens_out = 0, tokens_elided = 0, tokens_referred = 0 } = report
      results.inc({ layer, format, shape })
      tokensIn(tokens_in)
      tokensOut(tokens_out)
      const encoder = Math.max(0, tokens_in - tokens_out - tokens_elided - tokens_referred)
      tokensSaved.inc({ by: 'dedup' }, tokens_referred)
      tokensSaved.inc({ by: 'encoder' }, encoder)
      tokensSaved.inc({ by: 'omission' }, tokens_elided)
      for (const refusal of refused ?? []) refusals.inc({ ...refusal })
    },
  }
}
