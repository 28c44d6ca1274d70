import type { ScannedRequest } from '../../../src/core/conversation/parse/scan-request.ts'
import { rewriteLossless } from '../../../src/core/conversation/rewrite/rewrite-text.ts'
import type { ToolResultText } from '../../../src/core/dialects/bodies/tool-result-text.ts'
import type { OperationContext } from '../../../src/core/operations/operation.ts'
import { decodeContent } from '../../../src/core/pipeline/decode.ts'
import type { PipelineConfig } from '../../../src/core/pipeline/profile/pipeline-config.ts'
import { sameMeaning } from '../../../src/core/verify/same-meaning.ts'

/** What became of results, each counted in the first turn that has it. */
export interface RewriteCounts {
  results: number
  rewritten: number
  /** Texts that were decoded by themselves, and gave what the tool had said. */
  decoded: number
  /** Others: they refer to earlier results, or say what is missing. */
  bound: number
}

export const noRewrites = (): RewriteCounts => ({ results: 0, rewritten: 0, decoded: 0, bound: 0 })

/** @param pipelines the configurations under which a text may have been written */
export function createRewriteChecks(
  context: OperationContext,
  pipelines: readonly PipelineConfig[],
) {
  const counter = context.counters.get('openai_o200k')

  /** Whether it is what is written for the result alone, which then must decode. */
  function isDecoded(result: ToolResultText, written: string, model: string | undefined): boolean {
    const { tool, isError } = result
    const args = result.args()
    const call = {
      ...(tool === undefined ? {} : { tool }),
      ...(args === undefined ? {} : { args }),
    }
    const source = { text: result.text(), from: 'tool', call, isError } as const
    for (const pipeline of pipelines) {
      const counting = model === undefined ? {} : { model }
      const { content, format } = rewriteLossless(source, counting, { ...context, pipeline }).answer
      if (content !== written) continue
      const decoded = decodeContent(content, format, context.maxDecodedChars)
      if (!sameMeaning(source.text, decoded)) throw new Error(`not what it was made of: ${format}`)
      return true
    }
    return false
  }

  /**
   * Holds what arrived against what a client sent, and counts results from the `from`-th on.
   * @throws Error if a byte outside of results differs, a text has more tokens than before, or
   * does not decode
   */
  function check(
    sent: ScannedRequest,
    arrived: ScannedRequest,
    from: number,
    counts: RewriteCounts,
  ): void {
    requireSameRest(sent, arrived)
    for (const [index, result] of sent.results.entries()) {
      if (index < from) continue
      counts.results++
      const text = arrived.results[index]!.text()
      if (text === result.text()) continue
      counts.rewritten++
      if (counter.count(text) > counter.count(result.text())) throw new Error('it has more tokens')
      if (isDecoded(result, text, sent.model)) counts.decoded++
      else counts.bound++
    }
  }

  return { check, count: (text: string) => counter.count(text) }
}

export type RewriteChecks = ReturnType<typeof createRewriteChecks>

/** @throws Error if the two differ in anything but the texts of results */
function requireSameRest(a: ScannedRequest, b: ScannedRequest): void {
  if (a.results.length !== b.results.length) throw new Error('another number of results')
  let [fromA, fromB] = [0, 0]
  for (const [index, { start, end }] of a.results.entries()) {
    const other = b.results[index]!
    if (a.body.compare(b.body, fromB, other.start, fromA, start) !== 0)
      throw new Error(`before ${index}`)
    ;[fromA, fromB] = [end, other.end]
  }
  if (!a.body.subarray(fromA).equals(b.body.subarray(fromB))) throw new Error('behind all results')
}
