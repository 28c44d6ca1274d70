import { hash } from 'node:crypto'
import type { Fields } from '../../dialects/bodies/route.ts'
import { fieldsOf, listOf } from './retrieving-answer.ts'

/**
 * Digests of one turn of a model as its client has it: texts and the ids of calls. Whatever clients
 * write in their own way, such as the arguments of calls, is left out.
 */
function digest(units: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(units), 'hex')
}

/** @param blocks of a message of Anthropic's API */
export function anthropicShown(blocks: readonly unknown[]): string {
  return digest(
    blocks.map(block => {
      const { type, text, id } = fieldsOf(block)
      return type === 'text' ? [type, text] : type === 'tool_use' ? [type, id] : [type]
    }),
  )
}

/** @param message of a chat completion, with the text of all its parts */
export function chatShown(text: string, callIds: readonly unknown[]): string {
  return digest([text, ...callIds])
}

/** @param items that a model put out, of the Responses API */
export function responsesShown(items: readonly unknown[]): string {
  return digest(
    items.map(item => {
      const fields = fieldsOf(item)
      return [fields['type'] ?? 'message', fields['call_id'] ?? textOfItem(fields)]
    }),
  )
}

/** The texts of a message; empty for other items. */
function textOfItem({ content }: Fields): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map(part => String(fieldsOf(part)['text'] ?? ''))
    .join('')
}

/** The text of a chat message, which clients write as a string or as parts. */
export function chatText(content: unknown): string {
  return textOfItem({ content })
}
