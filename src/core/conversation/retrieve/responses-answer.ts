import { RETRIEVE_TOOL } from '../../contract/retrieve-tool.ts'
import type { Fields } from '../../dialects/bodies/route.ts'
import {
  type AnswerEvent,
  eventBytes,
  type FinishedAnswer,
  fieldsOf,
  type HiddenCall,
  type HiddenRound,
  type HiddenTurn,
  LIMIT_TEXT,
  listOf,
  numberOf,
  type OwnCall,
  type RetrievingAnswer,
} from './retrieving-answer.ts'
import { responsesShown } from './shown-turn.ts'

/** An item that the model put out. */
interface Item {
  readonly isOwn: boolean
  /** Its index in the output that the client gets. */
  readonly shownAt: number
  fields: Fields
}

/** Events that end a response; they have all of it. */
const ENDS = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const BEGINS = new Set(['response.created', 'response.queued', 'response.in_progress'])

/** A response of OpenAI's Responses API with our calls hidden. */
export class ResponsesAnswer implements RetrievingAnswer {
  #items = new Map<number, Item>()
  #shown: Fields[] = []
  #shownBefore = 0
  #rounds: HiddenRound[] = []
  #sequence = 0
  #ended: AnswerEvent | null = null
  #response: Fields = {}
  /** The id of the first round: clients refuse another one at the end. */
  #id: unknown
  #output = 0
  isKnown = true

  forget(): void {
    this.isKnown = false
  }

  get calls(): readonly OwnCall[] {
    return this.#own.map(({ fields }) => ({
      id: String(fields['call_id']),
      args: String(fields['arguments'] ?? ''),
    }))
  }

  get waitsForUs(): boolean {
    const isDone = this.#response['status'] === 'completed'
    return isDone && this.#own.length > 0 && !this.#all.some(isClientCall)
  }

  get #all(): readonly Item[] {
    return [...this.#items.values()]
  }

  get #own(): readonly Item[] {
    return this.#all.filter(({ isOwn }) => isOwn)
  }

  get #isUnchanged(): boolean {
    return this.#rounds.length === 0 && this.#own.length === 0
  }

  event(event: AnswerEvent): readonly Uint8Array[] {
    const { data } = event
    if (data === undefined) return [event.raw]
    const type = String(data['type'])
    if (ENDS.has(type)) return this.#end(event, fieldsOf(data['response']))
    if (BEGINS.has(type)) {
      this.#id ??= fieldsOf(data['response'])['id']
      return this.#rounds.length === 0 ? this.#send(event, data) : []
    }
    const index = data['output_index']
    if (typeof index !== 'number') return this.#send(event, data)
    if (type === 'response.output_item.added') this.#open(index, fieldsOf(data['item']))
    const item = this.#items.get(index)
    if (item === undefined) {
      this.isKnown = false
      return this.#send(event, data)
    }
    if (type === 'response.output_item.done') item.fields = fieldsOf(data['item'])
    if (item.isOwn) return []
    if (type === 'response.output_item.done') this.#shown[item.shownAt] = item.fields
    return this.#send(event, data, item.shownAt)
  }

  #open(index: number, fields: Fields): Item {
    const isOwn = fields['type'] === 'function_call' && fields['name'] === RETRIEVE_TOOL
    const item = { isOwn, shownAt: this.#shown.length, fields }
    this.#items.set(index, item)
    if (!isOwn) this.#shown.push(fields)
    return item
  }

  /** Events are numbered without gaps. */
  #send({ raw, name }: AnswerEvent, data: Fields, index?: number): readonly Uint8Array[] {
    const number = this.#sequence++
    const has = data['sequence_number'] ?? number
    const isSame = has === number && (index === undefined || index === data['output_index'])
    if (isSame) return [raw]
    const changed = {
      ...data,
      ...(data['sequence_number'] !== undefined && { sequence_number: number }),
      ...(index !== undefined && { output_index: index }),
    }
    return [eventBytes(name, changed)]
  }

  #end(event: AnswerEvent, response: Fields): readonly Uint8Array[] {
    this.#response = response
    this.#output += numberOf(fieldsOf(response['usage'])['output_tokens'])
    if (this.#isUnchanged) return [event.raw]
    this.#ended = event
    return []
  }

  whole(answer: Fields): void {
    this.#response = answer
    this.#output += numberOf(fieldsOf(answer['usage'])['output_tokens'])
    for (const [index, item] of listOf(answer['output']).entries()) {
      this.#open(index, fieldsOf(item))
    }
  }

  nextRound(results: readonly string[]): string {
    let answered = 0
    const parts = this.#all.flatMap(({ isOwn, fields }) => {
      const item = JSON.stringify(fields)
      return isOwn ? [item, output(fields, results[answered++] ?? '')] : [item]
    })
    const items = parts.join(',')
    this.#rounds.push({ shown: this.#shown.length - this.#shownBefore, items })
    this.#shownBefore = this.#shown.length
    this.#items = new Map()
    this.#ended = null
    this.#response = {}
    return items
  }

  /** Each call is put back with its output right after it. */
  #hiddenCalls(results: readonly string[]): readonly HiddenCall[] {
    return this.#own.map(({ fields, shownAt }, index) => ({
      at: shownAt - this.#shownBefore,
      call: JSON.stringify(fields),
      resultAt: 0,
      result: output(fields, results[index] ?? ''),
    }))
  }

  finishStream(results: readonly string[] | null): FinishedAnswer<readonly Uint8Array[]> {
    if (this.#isUnchanged || this.#ended === null) return { sent: [], hidden: null }
    const sent: Uint8Array[] = []
    for (const event of this.#isMute ? this.#limitEvents() : []) sent.push(event)
    const { name, data = {} } = this.#ended
    const last = { ...data, response: this.#whole(), sequence_number: this.#sequence++ }
    sent.push(eventBytes(name, last))
    return { sent, hidden: this.#hidden(results) }
  }

  get #isMute(): boolean {
    return !this.#shown.some(({ type }) => type !== 'reasoning')
  }

  /** A message of ours, as the events that a client expects of one. */
  #limitEvents(): readonly Uint8Array[] {
    const at = { item_id: LIMIT_ITEM.id, output_index: this.#shown.length }
    const place = { ...at, content_index: 0 }
    const [part] = LIMIT_ITEM.content
    this.#shown.push(LIMIT_ITEM)
    const empty = { ...LIMIT_ITEM, status: 'in_progress', content: [] }
    const events: readonly Fields[] = [
      { type: 'response.output_item.added', output_index: at.output_index, item: empty },
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...place, delta: LIMIT_TEXT, logprobs: [] },
      { type: 'response.output_text.done', ...place, text: LIMIT_TEXT, logprobs: [] },
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: at.output_index, item: LIMIT_ITEM },
    ]
    return events.map(event =>
      eventBytes(String(event['type']), { ...event, sequence_number: this.#sequence++ }),
    )
  }

  #whole(): Fields {
    const usage = fieldsOf(this.#response['usage'])
    const input = numberOf(usage['input_tokens'])
    const figures = {
      ...usage,
      output_tokens: this.#output,
      total_tokens: input + this.#output,
    }
    const hasUsage = this.#response['usage'] != null
    const id = this.#id ?? this.#response['id']
    return { ...this.#response, id, output: this.#shown, ...(hasUsage && { usage: figures }) }
  }

  finishWhole(results: readonly string[] | null): FinishedAnswer<Fields | null> {
    if (this.#isUnchanged) return { sent: null, hidden: null }
    if (this.#isMute) this.#shown.push(LIMIT_ITEM)
    return { sent: this.#whole(), hidden: this.#hidden(results) }
  }

  #hidden(results: readonly string[] | null): HiddenTurn | null {
    const calls = results === null ? [] : this.#hiddenCalls(results)
    if (calls.length === 0 && this.#rounds.length === 0) return null
    const shown = responsesShown(this.#shown)
    const first = this.#shown.find(({ type }) => type === 'function_call')
    const anchor = String(first?.['call_id'] ?? shown)
    return { shown, anchor, rounds: this.#rounds, calls }
  }
}

const LIMIT_ITEM = {
  id: 'msg_haversack_limit',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: LIMIT_TEXT, annotations: [] as unknown[] }],
} as const

function isClientCall({ isOwn, fields }: Item): boolean {
  return !isOwn && String(fields['type']).endsWith('_call') && !isHosted(fields)
}

/** Calls that the provider answers itself. */
const HOSTED = new Set(['web_search_call', 'file_search_call', 'code_interpreter_call', 'mcp_call'])

function isHosted({ type }: Fields): boolean {
  return HOSTED.has(String(type)) || type === 'image_generation_call'
}

function output(call: Fields, text: string): string {
  return JSON.stringify({ type: 'function_call_output', call_id: call['call_id'], output: text })
}
