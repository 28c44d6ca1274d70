import { randomBytes } from 'node:crypto'
import { recordsOf } from '../support/sample-results.ts'

/** What the bench's tools answer, by the tool's name. */
export const TOOLS = ['tiny', 'rows_4k', 'rows_100k', 'rows_1m', 'image_4k'] as const
export type ToolName = (typeof TOOLS)[number] | 'rows_750k'

/** Different results of each tool; beside them every answer has its call's nonce in it. */
const VARIANTS: Readonly<Record<ToolName, number>> = {
  tiny: 1,
  rows_4k: 256,
  rows_100k: 24,
  rows_750k: 6,
  rows_1m: 4,
  image_4k: 16,
}

/** A result in two halves: the nonce of the call goes between them. */
export type Halves = readonly [Buffer, Buffer]

const NONCE = '<nonce>'

/** The results of a tool, made beforehand, so that calls measure no making of rows. */
export function resultsOf(tool: ToolName): readonly Halves[] {
  return Array.from({ length: VARIANTS[tool] }, (_, i) => {
    const result = JSON.stringify({ content: [blockOf(tool, i + 1)] })
    const [before = '', after = ''] = result.split(NONCE)
    return [Buffer.from(before), Buffer.from(after)]
  })
}

function blockOf(tool: ToolName, seed: number): object {
  switch (tool) {
    case 'tiny':
      return { type: 'text', text: JSON.stringify({ ok: true, id: NONCE, took_ms: 12 }) }
    case 'image_4k':
      return {
        type: 'image',
        data: NONCE + randomBytes(3000).toString('base64'),
        mimeType: 'image/png',
      }
    case 'rows_4k':
      return rows(4_000, seed)
    case 'rows_100k':
      return rows(100_000, seed)
    case 'rows_750k':
      return rows(750_000, seed)
    case 'rows_1m':
      return rows(1_000_000, seed)
  }
}

/** Records without white space, as most APIs answer, of about this many bytes. */
function rows(bytes: number, seed: number): object {
  // Indented they are half as long again.
  const records: { title: string }[] = JSON.parse(recordsOf(bytes * 1.42, seed))
  records[0]!.title = NONCE
  return { type: 'text', text: JSON.stringify(records) }
}
