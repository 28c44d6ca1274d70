import { parseJson } from '../../json/parse-json.ts'
import { writeJson } from '../../json/write-json.ts'
import { notDecodable } from '../not-decodable.ts'
import type { JsonFormat } from './json-format.ts'

/** JSON without white space: any value, read by every model. */
export const jsonCompact: JsonFormat = {
  id: 'json_compact',
  version: 1,
  compact: true,
  accepts: () => true,
  encode: writeJson,
  decode(text) {
    const parsed = parseJson(text)
    if (parsed.ok) return parsed.value
    throw notDecodable(
      text,
      parsed.offset,
      parsed.reason === 'depth' ? 'nested too deeply' : 'JSON expected',
    )
  },
}
