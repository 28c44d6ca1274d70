/** How an agent puts breakpoints. */
export const STYLES = [
  'none',
  'top',
  'last',
  'system and last two',
  'one hour',
  'one hour for the system',
] as const
export type Style = (typeof STYLES)[number]

/** Messages of the user that end with one. */
const MARKS: Readonly<Record<Style, number>> = {
  none: 0,
  top: 0,
  last: 1,
  'system and last two': 2,
  'one hour': 2,
  'one hour for the system': 2,
}

type Block = Readonly<Record<string, unknown>>

interface Message {
  readonly role: 'user' | 'assistant'
  content: string | Block[]
}

/** What a request has beside its messages. */
interface Head {
  model: string
  tools: Block[]
  system: string
  readonly settings: Record<string, unknown>
}

const EPHEMERAL = { type: 'ephemeral' }
const HOUR = { type: 'ephemeral', ttl: '1h' }

/** An agent in a conversation with tools, written as its SDK would write it. */
export class CachingAgent {
  readonly style: Style
  readonly head: Head
  readonly messages: Message[]
  readonly #name: string
  #calls = 0

  constructor(name: string, style: Style) {
    this.#name = name
    this.style = style
    this.head = {
      model: 'claude-sonnet-4-5',
      tools: [tool('read', 'Reads a file.'), tool('list', 'Lists a folder.')],
      system: `You are agent ${name}. ${'Work with care and say what you do. '.repeat(260)}`,
      settings: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    }
    this.messages = [{ role: 'user', content: `Task ${name}: ${'find the fault. '.repeat(400)}` }]
  }

  /** The model calls tools, and gets their results. */
  step(calls: number): void {
    const ids = Array.from({ length: calls }, () => `${this.#name}-${this.#calls++}`)
    const called = ids.map(id => ({ type: 'tool_use', id, name: 'read', input: { path: id } }))
    const results = ids.map(id => ({ type: 'tool_result', tool_use_id: id, content: rows(id) }))
    this.messages.push(
      { role: 'assistant', content: [{ type: 'text', text: `Step ${this.#calls}.` }, ...called] },
      { role: 'user', content: results },
    )
  }

  /** The next request. */
  body(): Readonly<Record<string, unknown>> & { readonly messages: readonly Message[] } {
    const { model, tools, system, settings } = this.head
    const mark = this.style === 'one hour' ? HOUR : EPHEMERAL
    const ofSystem = this.style === 'one hour for the system' ? HOUR : mark
    const marks = MARKS[this.style]
    const users = this.messages.filter(({ role }) => role === 'user').slice(-marks)
    const messages = this.messages.map(each =>
      marks > 0 && users.includes(each) ? marked(each, mark) : each,
    )
    const isMarked = marks > 1
    return {
      model,
      max_tokens: 1_000,
      ...settings,
      ...(this.style === 'top' && { cache_control: EPHEMERAL }),
      tools,
      system: isMarked ? [{ type: 'text', text: system, cache_control: ofSystem }] : system,
      messages,
    }
  }
}

function tool(name: string, description: string): Block {
  const properties = { path: { type: 'string' } }
  return { name, description, input_schema: { type: 'object', properties } }
}

function marked({ role, content }: Message, cache_control: object): Message {
  const list = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return { role, content: [...list.slice(0, -1), { ...list.at(-1), cache_control }] }
}

/** A result that packs well. */
function rows(id: string): string {
  const list = Array.from({ length: 12 }, (_, n) => ({
    id: `${id}/${n}`,
    state: 'open',
    size: n * 7,
  }))
  return JSON.stringify(list)
}
