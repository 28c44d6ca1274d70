import type { OperationContext } from '../../src/core/operations/operation.ts'
import { packResultOperation } from '../../src/core/operations/pack-result.ts'
import { PACK_RESULT } from '../../src/core/operations/result-packer.ts'
import { paginationOf } from '../../src/core/operations/result-pagination.ts'
import { encodeContent } from '../../src/core/pipeline/encode-content.ts'
import { decode } from '../../src/index.ts'

/** How clients show results to their models. */
export const PROFILES = ['texts', 'structured'] as const
export type ProfileName = (typeof PROFILES)[number]

/** What the model reads of one result. */
export interface Shown {
  readonly before: string
  readonly after: string
}

/**
 * What a client shows of a result without and with the gateway: its text, or
 * `JSON.stringify(structuredContent)`. `null` if the result has no such value.
 * @throws Error if the text after does not decode to what it represents
 */
export function shownBy(
  profile: ProfileName,
  content: string,
  context: OperationContext,
): Shown | null {
  const structured = profile === 'structured' ? structuredOf(content) : undefined
  if (profile === 'structured' && structured === undefined) return null
  const text = JSON.stringify([{ type: 'text', text: content }])
  const result =
    structured === undefined
      ? `{"content":${text}}`
      : `{"content":${text},"structuredContent":${structured}}`
  const tool = 'mcp__bench__list'
  const terms = {
    redeems: false,
    bypass: false,
    result: { tool, mode: 'lossless', structured: structured === undefined ? 'keep' : 'text' },
  } as const
  const packed = packResultOperation.run(Buffer.from(result), { ...context, terms })
  const after = packed.bytes === null ? content : firstText(packed.bytes)
  const source = structured ?? content
  const request = { content: source, tool, mode: 'lossless', ...paginationOf(source) } as const
  const { answer } = encodeContent(request, context)
  if (packed.bytes !== null && answer.content !== after) throw new Error(`${PACK_RESULT} differs`)
  const decoded = decode({ content: answer.content, format: answer.format }).content
  if (!isSame(decoded, source)) throw new Error('a text does not decode to its source')
  return { before: structured ?? content, after }
}

/** The structured value that a server would send: an object, in which a list is a member. */
function structuredOf(content: string): string | undefined {
  try {
    const value: unknown = JSON.parse(content)
    if (typeof value !== 'object' || value === null) return undefined
    return JSON.stringify(Array.isArray(value) ? { result: value } : value)
  } catch {
    return undefined
  }
}

function firstText(result: Uint8Array): string {
  const { content } = JSON.parse(Buffer.from(result).toString()) as { content: { text: string }[] }
  return content[0]?.text ?? ''
}

/** Formats for JSON give the value back, not its white space. */
function isSame(decoded: string, source: string): boolean {
  if (decoded === source) return true
  return JSON.stringify(JSON.parse(decoded)) === JSON.stringify(JSON.parse(source))
}
