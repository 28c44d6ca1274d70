import { readResults } from '../../src/cli/replay/read-results.ts'
import { measureViews } from '../../src/cli/views/measure-views.ts'
import { readPipelineConfig } from '../../src/config/pipeline.ts'
import { parseHint } from '../../src/core/hints/hint-line.ts'
import { parseJson } from '../../src/core/json/parse-json.ts'
import { equalValues } from '../../src/core/json/value.ts'
import { decodeOperation } from '../../src/core/operations/decode.ts'
import { encodeOperation } from '../../src/core/operations/encode.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { jsonPayloads } from '../support/corpus.ts'
import { markdownTable } from '../support/markdown-table.ts'

const LEVELS = ['full', 'standard', 'compact'] as const

/** Each JSON payload at each level, and of recorded results how often later calls quote what is hidden. */
export function views(corpus: string): string {
  const pipeline = readPipelineConfig({ data_dir: '/nowhere' })
  const context = { ...createLocalContext(), keepsOriginals: true, pipeline }

  /** Whether a lossless text decodes to its input, and a marker names the kept original. */
  function isTrue(content: string, run: ReturnType<typeof encodeOperation.run>): boolean {
    const { answer, keep = [] } = run
    if (!answer.lossless) {
      const marker = parseHint(answer.content.split('\n').at(-1) ?? '')
      const [original] = keep
      return (
        marker?.family === 'elision' && Buffer.from(original?.bytes ?? []).toString() === content
      )
    }
    const { format } = answer
    const decoded = decodeOperation.run({ content: answer.content, format }, context).answer
    const [left, right] = [parseJson(content), parseJson(decoded.content)]
    return left.ok && right.ok ? equalValues(left.value, right.value) : decoded.content === content
  }

  const saved = (part: number, whole: number) => `${(100 - (100 * part) / whole).toFixed(1)} %`
  const rows = Array.from(jsonPayloads(corpus), ([folder, files]) => {
    let [before, viewed, faults] = [0, 0, 0]
    const after = { full: 0, standard: 0, compact: 0 }
    for (const content of files.values()) {
      for (const level of LEVELS) {
        const run = encodeOperation.run({ content, response_budget: level }, context)
        after[level] += run.answer.tokens.final
        if (level === 'full') before += run.answer.tokens.baseline
        if (level === 'compact' && run.answer.view !== undefined) viewed++
        if (!isTrue(content, run)) faults++
      }
    }
    return [folder, files.size, viewed, ...LEVELS.map(level => saved(after[level], before)), faults]
  })
  const known = Array.from(measureViews(readResults(corpus).results, context), ([view, each]) => [
    view,
    each.results,
    ...[each.lossless, each.standard, each.compact].map(part => saved(part, each.before)),
    `${each.neededLater} of ${each.inSessions}`,
  ])
  const levels = ['lossless', 'standard', 'compact']
  return [
    markdownTable(['payloads', 'results', 'with a view', ...levels, 'faults'], rows),
    markdownTable(['view', 'results', ...levels, 'quoted later'], known),
  ].join('\n\n')
}
