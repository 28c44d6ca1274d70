import { READING_LEVELS } from '../../src/core/reading/constructs.ts'
import { encode } from '../../src/index.ts'
import { markdownTable } from '../support/markdown-table.ts'

/** Results and their tokens at each level of reading, each by itself, in o200k_base. */
export function levelsTable(texts: readonly string[]): string {
  const rows = READING_LEVELS.map(level => {
    let [before, after, written] = [0, 0, 0]
    for (const content of texts) {
      const { tokens, format } = encode({ content, reading: level })
      before += tokens.baseline
      after += tokens.final
      if (format !== 'passthrough') written++
    }
    return [level, written, before, after, `${((100 * (before - after)) / before).toFixed(2)} %`]
  })
  return markdownTable(['level', 'written in a form', 'tokens in', 'tokens out', 'saved'], rows)
}
