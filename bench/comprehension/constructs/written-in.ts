import { formatId } from '../../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../../src/core/formats/text/registry.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import type { Answer } from '../data-sets.ts'

export const WORDS =
  'amber basil cedar delta ember fjord grove heath inlet juniper kelp larch'.split(' ')
export const VERBS = ['open', 'read', 'write', 'close', 'flush', 'seek']

/** A text in the format of this name, whatever it saves. */
export function writtenIn(id: string, text: string, counter: TokenCounter): Answer {
  const format = TEXT_FORMATS.find(each => each.id === id)
  if (format === undefined) throw new Error(`there is no format ${id}`)
  const [written] = format.encode(text, { counter, formats: JSON_FORMATS })
  if (written === undefined) throw new Error(`${id} declines: ${text.slice(0, 60)}`)
  const { style, content } = written
  return { format: style === '' ? formatId(format) : `${formatId(format)};${style}`, content }
}
