import { hash } from 'node:crypto'
import { z } from 'zod'
import type { FreshRecord } from '../../contract/operation-result.ts'
import type { RouteName } from '../../dialects/lookup.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { recall } from '../rewrite/rewrite-result.ts'
import { NOTHING_SAVED, type StoredRewrite, writeStored } from '../rewrite/stored-rewrite.ts'
import type { HiddenTurn } from './retrieving-answer.ts'

/** Where a turn of the model stands in its conversation. */
export interface TurnPlace {
  readonly tenant: string
  readonly route: RouteName
  readonly conversation: string
  /** Its index in the client's list of messages. */
  readonly index: number
  /** The id of its first call that the client has, else a digest of what the client was shown. */
  readonly anchor: string
}

/** The key of the record of what was hidden from a turn. 64 hex digits. */
export function hiddenTurnKey({ tenant, route, conversation, index, anchor }: TurnPlace): string {
  const name = ['hidden', tenant, route, conversation, index, anchor]
  return hash('sha256', JSON.stringify(name), 'hex')
}

const NO_RESULT = { saved: NOTHING_SAVED, isSource: false, markers: [], digest: 0, sent: 0 }
const NOTHING_HIDDEN = writeStored({ ...NO_RESULT, literal: null })

/** The bytes of a record; it is stored as the rewrite of no result. */
export function writeHiddenTurn(turn: HiddenTurn): Uint8Array {
  return writeStored({ ...NO_RESULT, literal: Buffer.from(JSON.stringify(turn)) })
}

const text = z.string()
const count = z.int().nonnegative()
const hiddenTurn = z.object({
  shown: text,
  anchor: text,
  rounds: z.array(z.object({ shown: count, items: text })),
  calls: z.array(z.object({ at: count, call: text, resultAt: count, result: text })),
}) satisfies z.ZodType<HiddenTurn>

/** Another program may have written anything to a shared store. That counts as nothing. */
function readHiddenTurn({ literal }: StoredRewrite): HiddenTurn | null {
  if (literal === null) return null
  try {
    return hiddenTurn.parse(JSON.parse(Buffer.from(literal).toString()))
  } catch {
    return null
  }
}

/** What is recorded of the turns of one request. */
export class HiddenTurns {
  readonly #place: Omit<TurnPlace, 'index' | 'anchor'>
  readonly #context: ConversationContext
  /** Questions about turns that memory knows nothing of. */
  readonly questions: FreshRecord[] = []

  constructor({ route }: ScannedRequest, conversation: string, context: ConversationContext) {
    const { tenant = '' } = context.rewrites ?? {}
    this.#place = { tenant, route, conversation }
    this.#context = context
  }

  /** What was hidden from a turn; `null`: nothing, as far as this process knows. */
  of(index: number, anchor: string): HiddenTurn | null {
    const key = hiddenTurnKey({ ...this.#place, index, anchor })
    const recorded = recall(key, this.#context)
    if (recorded !== null) return readHiddenTurn(recorded)
    // If the store has nothing either, memory has that from then on.
    const position = this.#context.rewrites?.memory.place(key, NOTHING_HIDDEN) ?? null
    this.questions.push({ key, bytes: NOTHING_HIDDEN, position, isQuestion: true })
    return null
  }
}
