import { AppError } from '../../errors.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { findNotation } from '../formats/registry.ts'
import type { DecodeAnswer } from '../requests/decode.ts'
import { writeJson } from '../value/write-json.ts'

/**
 * What an encoded text stands for: compact JSON where the input was JSON, else the text itself.
 * @param format the `format` of the encode answer
 * @throws AppError `not_decodable`
 */
export function decodeContent(content: string, format: string): DecodeAnswer {
  if (format === PASSTHROUGH) return { content, media_type: 'text/plain' }
  const notation = findNotation(format)
  if (notation === undefined) {
    throw new AppError('not_decodable', 'the format is none that this version wrote')
  }
  return { content: writeJson(notation.decode(content)), media_type: 'application/json' }
}
