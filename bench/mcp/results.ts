import { randomBytes } from 'node:crypto'
import { flatRows } from '../support/generated-results.ts'

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
  if (tool === 'image_4k') {
    const data = NONCE + randomBytes(3000).toString('base64')
    return { type: 'image', data, mimeType: 'image/png' }
  }
  const value = tool === 'tiny' ? { ok: true, id: NONCE, took_ms: 12 } : rows(BYTES[tool], seed)
  return { type: 'text', text: JSON.stringify(value) }
}

const BYTES = { rows_4k: 4_000, rows_100k: 100_000, rows_750k: 750_000, rows_1m: 1_000_000 }

/** Rows of which the first one's name is the nonce. */
function rows(bytes: number, seed: number): readonly object[] {
  const [first, ...others] = flatRows(bytes, seed)
  return [{ ...first, name: NONCE }, ...others]
}
