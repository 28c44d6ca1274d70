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
import { chatShown } from './shown-turn.ts'

/** A call of a tool, as far as it was streamed. */
interface Call {
  readonly id: string
  readonly name: string
  readonly type: string
  args: string
  /** Its index among the calls that the client gets. */
  readonly shownAt: number
}

const isOwn = ({ name }: Call) => name === RETRIEVE_TOOL

/** A chat completion with our calls hidden. Answers with several choices pass unchanged. */
export class ChatAnswer implements RetrievingAnswer {
  #calls = new Map<number, Call>()
  /** The text of this round, and of those before it. */
  #text = ''
  #textBefore = ''
  #rounds: HiddenRound[] = []
  #reason: unknown = null
  #held: AnswerEvent[] = []
  #head: Fields = {}
  #usage: Fields = {}
  #output = 0
  #answer: Fields = {}
  isKnown = true

  forget(): void {
    this.isKnown = false
  }

  get calls(): readonly OwnCall[] {
    return this.#all.filter(isOwn).map(({ id, args }) => ({ id, args }))
  }

  get waitsForUs(): boolean {
    const isAsked = this.#reason === 'tool_calls' || this.#reason === 'stop'
    return isAsked && this.#all.length > 0 && this.#all.every(isOwn)
  }

  get #all(): readonly Call[] {
    return [...this.#calls.values()]
  }

  get #clientCalls(): readonly Call[] {
    return this.#all.filter(call => !isOwn(call))
  }

  get #isUnchanged(): boolean {
    return this.#rounds.length === 0 && !this.#all.some(isOwn)
  }

  event(event: AnswerEvent): readonly Uint8Array[] {
    const { data } = event
    // `[DONE]`, and comments.
    if (data === undefined) return this.#isUnchanged ? [event.raw] : this.#holdDone(event)
    this.#count(fieldsOf(data['usage']))
    const choices = listOf(data['choices'])
    if (choices.length > 1 || numberOf(fieldsOf(choices[0])['index']) > 0) this.isKnown = false
    if (!this.isKnown && this.#isUnchanged) return [event.raw]
    if (choices.length === 0) return this.#isUnchanged ? [event.raw] : this.#hold(event)
    return this.#pass(event, data, fieldsOf(choices[0]))
  }

  #holdDone(event: AnswerEvent): readonly Uint8Array[] {
    const isDone = Buffer.from(event.raw).includes('[DONE]')
    return isDone ? this.#hold(event) : [event.raw]
  }

  #hold(event: AnswerEvent): readonly Uint8Array[] {
    this.#held.push(event)
    return []
  }

  #count(usage: Fields): void {
    if (usage['completion_tokens'] === undefined) return
    // Some servers repeat growing figures in each event of a round.
    this.#usage = usage
  }

  #pass(event: AnswerEvent, data: Fields, choice: Fields): readonly Uint8Array[] {
    const delta = fieldsOf(choice['delta'])
    if (this.isKnown && typeof delta['content'] === 'string') this.#text += delta['content']
    const calls = listOf(delta['tool_calls']).map(fieldsOf)
    const shownCalls = calls.flatMap(each => this.#take(each))
    const reason = choice['finish_reason'] ?? null
    if (reason !== null) this.#reason = reason
    if (this.#rounds.length === 0 && Object.keys(this.#head).length === 0) this.#head = data
    if (this.#isUnchanged) return [event.raw]
    const { tool_calls: _calls, role, ...said } = delta
    const shown = {
      ...(this.#rounds.length === 0 && role !== undefined && { role }),
      ...said,
      ...(shownCalls.length > 0 && { tool_calls: shownCalls }),
    }
    const named = this.#named(data)
    if (reason !== null) {
      const last = { ...choice, delta: {}, finish_reason: reason }
      this.#hold({ ...event, data: { ...named, choices: [last] } })
    }
    const isEmpty = Object.values(shown).every(value => value === null || value === '')
    if (isEmpty) return []
    const passed = { ...choice, delta: shown, finish_reason: null }
    return [eventBytes(null, { ...named, choices: [passed] })]
  }

  /** All events of an answer have the name of its first. */
  #named(data: Fields): Fields {
    const { id = data['id'], created = data['created'] } = this.#head
    return { ...data, id, created }
  }

  /** Returns the piece of a call as the client gets it; nothing if the call is ours. */
  #take(piece: Fields): readonly Fields[] {
    const index = numberOf(piece['index'])
    const { name, arguments: args } = fieldsOf(piece['function'])
    let call = this.#calls.get(index)
    if (call === undefined) {
      const shownAt = this.#clientCalls.length
      const type = String(piece['type'] ?? 'function')
      call = { id: String(piece['id']), name: String(name), type, args: '', shownAt }
      this.#calls.set(index, call)
    }
    if (this.isKnown && typeof args === 'string') call.args += args
    return isOwn(call) ? [] : [{ ...piece, index: call.shownAt }]
  }

  whole(answer: Fields): void {
    this.#answer = answer
    this.#usage = fieldsOf(answer['usage'])
    const choices = listOf(answer['choices'])
    if (choices.length !== 1) this.isKnown = false
    const { message, finish_reason: reason } = fieldsOf(choices[0])
    const { content, tool_calls: calls } = fieldsOf(message)
    this.#reason = reason
    if (typeof content === 'string') this.#text += content
    for (const [index, call] of listOf(calls).entries()) this.#take({ ...fieldsOf(call), index })
  }

  nextRound(results: readonly string[]): string {
    const calls = this.#all.map(written).join(',')
    const content = this.#text === '' ? 'null' : JSON.stringify(this.#text)
    const answered = this.calls.map(({ id }, index) => resultMessage(id, results[index] ?? ''))
    const said = `{"role":"assistant","content":${content},"tool_calls":[${calls}]}`
    const items = [said, ...answered].join(',')
    this.#rounds.push({ shown: this.#text.length, items })
    this.#textBefore += this.#text
    this.#text = ''
    this.#calls = new Map()
    this.#held = []
    this.#reason = null
    this.#endRound()
    return items
  }

  #endRound(): void {
    this.#output += numberOf(this.#usage['completion_tokens'])
  }

  finishStream(results: readonly string[] | null): FinishedAnswer<readonly Uint8Array[]> {
    if (this.#isUnchanged) return { sent: this.#held.map(({ raw }) => raw), hidden: null }
    this.#endRound()
    const sent: Uint8Array[] = []
    if (this.#isMute) sent.push(this.#limitEvent())
    for (const { raw, data } of this.#held) {
      sent.push(data === undefined ? raw : eventBytes(null, this.#last(data)))
    }
    return { sent, hidden: this.#hidden(results) }
  }

  get #isMute(): boolean {
    return this.#textBefore + this.#text === '' && this.#clientCalls.length === 0
  }

  #limitEvent(): Uint8Array {
    this.#text = LIMIT_TEXT
    const choice = { index: 0, delta: { content: LIMIT_TEXT }, finish_reason: null }
    return eventBytes(null, { ...this.#head, choices: [choice], usage: null })
  }

  #last(data: Fields): Fields {
    const [choice] = listOf(data['choices']).map(fieldsOf)
    const { usage } = data
    return {
      ...this.#named(data),
      ...(choice && { choices: [{ ...choice, finish_reason: this.#reasonForClient }] }),
      ...(usage != null && { usage: this.#figures }),
    }
  }

  get #figures(): Fields {
    const total = numberOf(this.#usage['prompt_tokens']) + this.#output
    return { ...this.#usage, completion_tokens: this.#output, total_tokens: total }
  }

  get #reasonForClient(): unknown {
    const isLeft = this.#reason === 'tool_calls' && this.#clientCalls.length === 0
    return isLeft ? 'stop' : this.#reason
  }

  finishWhole(results: readonly string[] | null): FinishedAnswer<Fields | null> {
    if (this.#isUnchanged) return { sent: null, hidden: null }
    this.#endRound()
    if (this.#isMute) this.#text = LIMIT_TEXT
    const choice = fieldsOf(listOf(this.#answer['choices'])[0])
    const { tool_calls: _calls, ...message } = fieldsOf(choice['message'])
    const calls = this.#clientCalls.map(call => JSON.parse(written(call)) as Fields)
    const text = this.#textBefore + this.#text
    const said = {
      ...message,
      content: text === '' ? null : text,
      ...(calls.length > 0 && { tool_calls: calls }),
    }
    const choices = [{ ...choice, message: said, finish_reason: this.#reasonForClient }]
    const { usage } = this.#answer
    const sent = { ...this.#answer, choices, ...(usage != null && { usage: this.#figures }) }
    return { sent, hidden: this.#hidden(results) }
  }

  #hidden(results: readonly string[] | null): HiddenTurn | null {
    const calls = results === null ? [] : this.#hiddenCalls(results)
    if (calls.length === 0 && this.#rounds.length === 0) return null
    const ids = this.#clientCalls.map(({ id }) => id)
    const shown = chatShown(this.#textBefore + this.#text, ids)
    return { shown, anchor: ids[0] ?? shown, rounds: this.#rounds, calls }
  }

  #hiddenCalls(results: readonly string[]): readonly HiddenCall[] {
    return this.#all.filter(isOwn).map((call, index) => ({
      at: call.shownAt,
      call: written(call),
      resultAt: call.shownAt,
      result: resultMessage(call.id, results[index] ?? ''),
    }))
  }
}

function written({ id, type, name, args }: Call): string {
  return JSON.stringify({ id, type, function: { name, arguments: args } })
}

function resultMessage(id: string, content: string): string {
  return JSON.stringify({ role: 'tool', tool_call_id: id, content })
}
