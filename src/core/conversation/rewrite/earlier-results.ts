import { hash } from 'node:crypto'
import type { CompressRequest } from '../../contract/compress.ts'
import type { OpenLayer } from '../../pipeline/session-layer.ts'
import { argsOf, type MessageText, type ResultAt } from './message-texts.ts'
import type { HistoryResult } from './passed-results.ts'
import type { ConversationContext } from './rewrite-context.ts'
import type { SentNote } from './sent-notes.ts'

/** A text of the conversation, until its replacement is known. */
interface OpenText {
  /** Its references to earlier results; absent: it has none. */
  readonly layer?: OpenLayer
  /** Notes how it was written, for those after it. */
  end(note?: SentNote): void
}

/** The texts of a conversation, in their order. */
interface EarlierResults {
  /** @param mayRefer whether it may refer, and be referred to */
  next(source: MessageText, mayRefer: boolean): OpenText
}

const NOT_SOURCE = { isSource: false }
const NOTHING: OpenText = { end: () => {} }

/**
 * The tool results of messages, of which later ones may repeat earlier ones. A reference depends
 * only on what is before it, so a conversation that continues is written as before. Returns `null`
 * if the thread has no memory for it.
 */
export function earlierResults(
  { model, tokenizer }: CompressRequest,
  { rewrites }: ConversationContext,
): EarlierResults | null {
  const begin = () => rewrites?.history?.begin()
  let history = begin()
  if (history === undefined) return null
  let walls = 0
  let index = 0
  let key = digest(JSON.stringify(['compress', rewrites!.tenant, model, tokenizer]))
  return {
    next(source, mayRefer) {
      const result = resultOf(source)
      if (result === null) return NOTHING
      // Arguments may be most of the messages, and have many results: once is enough.
      const args = result.firstOfCall === index++ ? result.args() : undefined
      key = digest(`${key}${nameOf(source, result, args)}`)
      const name = key
      // After a compaction the model has nothing of what came before it.
      if (result.walls !== walls) history = begin()!
      walls = result.walls
      const { open, add } = history!
      const turn = mayRefer ? open(name, result) : null
      return {
        ...(turn === null ? {} : { layer: turn.layer }),
        end: note => add(name, result, { ...(turn?.written() ?? NOT_SOURCE), ...note }),
      }
    },
  }
}

function digest(text: string): string {
  return hash('sha256', Buffer.from(text, 'utf16le'), 'hex')
}

/** A result of the conversation, with the compactions before it. */
type PlacedResult = HistoryResult & ResultAt

/** Everything that what replaces a result may depend on. */
function nameOf({ isError, text }: MessageText, result: PlacedResult, args: unknown): string {
  const { tool, ordinal, part, isWhole, callsAhead = null, firstOfCall, walls } = result
  const fields = [tool, isError, ordinal, part, isWhole, callsAhead, firstOfCall, args, walls]
  return `${JSON.stringify(fields)} ${text}`
}

function resultOf({ text, call, result }: MessageText): PlacedResult | null {
  if (result === undefined) return null
  const args = () => argsOf(call)
  return { ...result, start: 0, end: text.length, text: () => text, tool: call.tool, args }
}
