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
  inputOf,
  LIMIT_TEXT,
  listOf,
  numberOf,
  type OwnCall,
  type RetrievingAnswer,
} from './retrieving-answer.ts'
import { anthropicShown } from './shown-turn.ts'

/** A content block that the model writes, as it stands after the deltas so far. */
interface Block {
  readonly isOwn: boolean
  /** Its index in the answer that the client gets. */
  readonly shownAt: number
  readonly fields: Record<string, unknown>
  /** The input of a call, as text. */
  input: string
}

/** Figures of the prompt. Agents read them as the size of their context. */
const PROMPT_FIGURES = [
  'input_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation',
] as const

/** Deltas that append to a text of their block: the field of the delta is that of the block. */
const TEXT_DELTAS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
}

/** An answer of Anthropic's messages API with our calls hidden. */
export class AnthropicAnswer implements RetrievingAnswer {
  #blocks = new Map<number, Block>()
  /** Blocks that the client was shown, of all rounds. */
  #shown: Fields[] = []
  #shownBefore = 0
  #rounds: HiddenRound[] = []
  #stop: unknown = null
  #held: AnswerEvent[] = []
  #output = 0
  #prompt: Fields = {}
  #answer: Fields = {}
  isKnown = true

  forget(): void {
    this.isKnown = false
  }

  get calls(): readonly OwnCall[] {
    return this.#own.map(({ fields, input }) => ({ id: String(fields['id']), args: input }))
  }

  get waitsForUs(): boolean {
    return this.#stop === 'tool_use' && this.#own.length > 0 && this.#clientCalls === 0
  }

  get #all(): readonly Block[] {
    return [...this.#blocks.values()]
  }

  get #own(): readonly Block[] {
    return this.#all.filter(block => block.isOwn)
  }

  get #clientCalls(): number {
    return this.#all.filter(({ isOwn, fields }) => !isOwn && fields['type'] === 'tool_use').length
  }

  /** Whether the client gets what the provider sends. */
  get #isUnchanged(): boolean {
    return this.#rounds.length === 0 && this.#own.length === 0
  }

  event(event: AnswerEvent): readonly Uint8Array[] {
    const { data } = event
    switch (data?.['type']) {
      case 'message_start':
        return this.#start(event, fieldsOf(fieldsOf(data['message'])['usage']))
      case 'content_block_start':
        return this.#pass(event, this.#open(data))
      case 'content_block_delta':
        return this.#pass(event, this.#extend(data))
      case 'content_block_stop':
        return this.#pass(event, this.#blocks.get(numberOf(data['index'])))
      case 'message_delta':
        return this.#delta(event, data)
      case 'message_stop':
        return this.#isUnchanged ? [event.raw] : this.#hold(event)
      default:
        return [event.raw]
    }
  }

  #start(event: AnswerEvent, usage: Fields): readonly Uint8Array[] {
    this.#prompt = usage
    return this.#rounds.length === 0 ? [event.raw] : []
  }

  #hold(event: AnswerEvent): readonly Uint8Array[] {
    this.#held.push(event)
    return []
  }

  #open(data: Fields): Block {
    const given = fieldsOf(data['content_block'])
    const isOwn = given['type'] === 'tool_use' && given['name'] === RETRIEVE_TOOL
    const shownAt = this.#shown.length
    const fields = { ...given }
    const block = { isOwn, shownAt, fields, input: '' }
    this.#blocks.set(numberOf(data['index']), block)
    if (!isOwn) this.#shown.push(fields)
    return block
  }

  #extend(data: Fields): Block | undefined {
    const block = this.#blocks.get(numberOf(data['index']))
    const delta = fieldsOf(data['delta'])
    const type = String(delta['type'])
    const text = TEXT_DELTAS[type]
    if (block === undefined) this.isKnown = false
    else if (!this.isKnown) return block
    else if (text !== undefined) block.fields[text] = `${block.fields[text] ?? ''}${delta[text]}`
    else if (type === 'input_json_delta') block.input += String(delta['partial_json'])
    else if (type === 'citations_delta') {
      block.fields['citations'] = [...listOf(block.fields['citations']), delta['citation']]
    } else this.isKnown = false
    return block
  }

  #delta(event: AnswerEvent, data: Fields): readonly Uint8Array[] {
    this.#stop = fieldsOf(data['delta'])['stop_reason'] ?? this.#stop
    this.#output += numberOf(fieldsOf(data['usage'])['output_tokens'])
    this.#prompt = { ...this.#prompt, ...promptFigures(fieldsOf(data['usage'])) }
    return this.#isUnchanged ? [event.raw] : this.#hold(event)
  }

  /** An event of a block, with the index that the block has for the client. */
  #pass({ raw, name, data }: AnswerEvent, block: Block | undefined): readonly Uint8Array[] {
    if (block === undefined) return [raw]
    if (block.isOwn) return []
    if (block.shownAt === data?.['index']) return [raw]
    return [eventBytes(name, { ...data, index: block.shownAt })]
  }

  whole(answer: Fields): void {
    this.#answer = answer
    this.#stop = answer['stop_reason']
    for (const [index, block] of listOf(answer['content']).entries()) {
      const { isOwn, fields } = this.#open({ index, content_block: block })
      if (isOwn) this.#blocks.get(index)!.input = JSON.stringify(fields['input'] ?? {})
    }
    const usage = fieldsOf(answer['usage'])
    this.#prompt = usage
    this.#output += numberOf(usage['output_tokens'])
  }

  nextRound(results: readonly string[]): string {
    const content = this.#all.map(written).join(',')
    const answered = this.calls.map(({ id }, index) => resultBlock(id, results[index] ?? ''))
    const items =
      `{"role":"assistant","content":[${content}]},` +
      `{"role":"user","content":[${answered.join(',')}]}`
    this.#rounds.push({ shown: this.#shown.length - this.#shownBefore, items })
    this.#shownBefore = this.#shown.length
    this.#blocks = new Map()
    this.#held = []
    this.#stop = null
    return items
  }

  finishStream(results: readonly string[] | null): FinishedAnswer<readonly Uint8Array[]> {
    if (this.#isUnchanged) return { sent: this.#held.map(({ raw }) => raw), hidden: null }
    const sent: Uint8Array[] = []
    for (const event of this.#isMute ? this.#limitEvents() : []) sent.push(event)
    for (const { name, data, raw } of this.#held) {
      sent.push(data?.['type'] === 'message_delta' ? eventBytes(name, this.#lastDelta(data)) : raw)
    }
    return { sent, hidden: this.#hidden(results) }
  }

  /** Whether the client would get an answer of nothing that it can show. */
  get #isMute(): boolean {
    const isSaid = ({ type }: Fields) => type === 'text' || type === 'tool_use'
    return this.#own.length > 0 && !this.#shown.some(isSaid)
  }

  #limitEvents(): readonly Uint8Array[] {
    const index = this.#shown.length
    const block = { type: 'text', text: LIMIT_TEXT }
    this.#shown.push(block)
    const start = { type: 'content_block_start', index, content_block: { ...block, text: '' } }
    const delta = { type: 'text_delta', text: LIMIT_TEXT }
    return [
      eventBytes('content_block_start', start),
      eventBytes('content_block_delta', { type: 'content_block_delta', index, delta }),
      eventBytes('content_block_stop', { type: 'content_block_stop', index }),
    ]
  }

  #lastDelta(data: Fields): Fields {
    const usage = fieldsOf(data['usage'])
    const delta = { ...fieldsOf(data['delta']), stop_reason: this.#stopForClient }
    return { ...data, delta, usage: { ...usage, ...this.#figures } }
  }

  get #figures(): Fields {
    return { ...promptFigures(this.#prompt), output_tokens: this.#output }
  }

  /** Without a call that the client knows it would wait for nothing. */
  get #stopForClient(): unknown {
    const isLeft = this.#stop === 'tool_use' && this.#clientCalls === 0
    return isLeft ? 'end_turn' : this.#stop
  }

  finishWhole(results: readonly string[] | null): FinishedAnswer<Fields | null> {
    if (this.#isUnchanged) return { sent: null, hidden: null }
    if (this.#isMute) this.#shown.push({ type: 'text', text: LIMIT_TEXT })
    const usage = { ...fieldsOf(this.#answer['usage']), ...this.#figures }
    const sent = {
      ...this.#answer,
      content: this.#shown,
      stop_reason: this.#stopForClient,
      usage,
    }
    return { sent, hidden: this.#hidden(results) }
  }

  #hidden(results: readonly string[] | null): HiddenTurn | null {
    const calls = results === null ? [] : this.#hiddenCalls(results)
    if (calls.length === 0 && this.#rounds.length === 0) return null
    const shown = anthropicShown(this.#shown)
    const first = this.#shown.find(({ type }) => type === 'tool_use')
    return { shown, anchor: String(first?.['id'] ?? shown), rounds: this.#rounds, calls }
  }

  #hiddenCalls(results: readonly string[]): readonly HiddenCall[] {
    const calls: HiddenCall[] = []
    let clientCalls = 0
    for (const block of this.#all) {
      const { isOwn, fields, shownAt } = block
      if (!isOwn && fields['type'] === 'tool_use') clientCalls++
      if (!isOwn) continue
      calls.push({
        at: shownAt - this.#shownBefore,
        call: written(block),
        resultAt: clientCalls,
        result: resultBlock(String(fields['id']), results[calls.length] ?? ''),
      })
    }
    return calls
  }
}

function promptFigures(usage: Fields): Fields {
  const known = PROMPT_FIGURES.filter(name => usage[name] !== undefined && usage[name] !== null)
  return Object.fromEntries(known.map(name => [name, usage[name]]))
}

/** A block as the provider takes it back. */
function written({ fields, input }: Block): string {
  const isCall = String(fields['type']).endsWith('tool_use')
  return JSON.stringify(isCall && input !== '' ? { ...fields, input: inputOf(input) } : fields)
}

function resultBlock(id: string, content: string): string {
  return JSON.stringify({ type: 'tool_result', tool_use_id: id, content })
}
