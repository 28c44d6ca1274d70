import { createHash } from 'node:crypto'

/** A request to Anthropic's API, as far as its cache goes. */
interface CachedBody {
  readonly model?: string
  readonly tools?: readonly object[]
  readonly system?: unknown
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly cache_control?: CacheControl
  readonly [setting: string]: unknown
}

interface CacheControl {
  readonly type: string
  readonly ttl?: '5m' | '1h'
}

/** The usage that it reports, in tokens. */
export interface CacheUsage {
  readonly input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  /** Of what was written, what is kept for an hour. */
  readonly cache_creation: { readonly ephemeral_1h_input_tokens: number }
  readonly output_tokens: number
}

export type CachedAnswer =
  | { readonly status: 200; readonly usage: CacheUsage }
  | { readonly status: 400; readonly message: string }

interface Entry {
  /** From the start of the request that wrote or read it last. */
  expires: number
  readonly lifeMs: number
  /** From when it can be read: an answer has begun. */
  readonly readable: number
}

const MOST_BREAKPOINTS = 4
const LOOK_BACK = 20
const LEAST_TOKENS = 1_024
const BYTES_A_TOKEN = 4
const LIVES = { '5m': 300_000, '1h': 3_600_000 } as const
/** What changes the cached messages, and not tools and instructions. */
const OF_MESSAGES = ['thinking', 'output_config', 'tool_choice'] as const

interface Block {
  readonly text: string
  readonly breakpoint: CacheControl | undefined
}

/**
 * A vendor that keeps prompts in a cache as Anthropic documents it: entries end at breakpoints, of
 * which there are four at most; lives count from the start of a request; a breakpoint looks back
 * over 20 blocks; short prefixes are not cached.
 */
export class CachingVendor {
  readonly #entries = new Map<string, Entry>()
  /** Whether the top of a request may have a breakpoint. */
  readonly takesTop: boolean
  /** The most breakpoints that a request had. */
  most = 0

  constructor({ takesTop = true }: { takesTop?: boolean } = {}) {
    this.takesTop = takesTop
  }

  /** Loses everything, as a vendor may at any time. */
  forget(): void {
    this.#entries.clear()
  }

  /** @param at when the request starts, in milliseconds */
  ask(body: CachedBody, at: number, answerMs = 0): CachedAnswer {
    if (body.cache_control !== undefined && !this.takesTop) {
      return { status: 400, message: 'cache_control: Extra inputs are not permitted' }
    }
    const asksForNothing = body['max_tokens'] === 0
    if (asksForNothing && refusesToWarm(body)) return { status: 400, message: 'max_tokens: 0' }
    const { blocks, head } = blocksOf(body)
    const ends = blocks.flatMap(({ breakpoint }, i) => (breakpoint ? [{ i, breakpoint }] : []))
    this.most = Math.max(this.most, ends.length)
    if (ends.length > MOST_BREAKPOINTS) return { status: 400, message: 'too many cache_control' }
    const lives = ends.map(({ breakpoint: { ttl = '5m' } }) => LIVES[ttl])
    if (lives.some((life, i) => i > 0 && life > lives[i - 1]!)) {
      return { status: 400, message: 'a longer ttl of cache_control after a shorter one' }
    }
    const keys = keysOf(body, blocks, head)
    const tokens = tokensOf(blocks)
    let read = -1
    for (const { i } of ends) {
      for (let back = i; back >= Math.max(0, i - LOOK_BACK); back--) {
        const entry = this.#entries.get(keys[back]!)
        if (entry === undefined || entry.expires < at || entry.readable > at) continue
        entry.expires = at + entry.lifeMs
        read = Math.max(read, back)
        break
      }
    }
    const cached = read === -1 ? 0 : tokens[read]!
    const isLong = ({ i }: { i: number }) => tokens[i]! >= LEAST_TOKENS
    let written = cached
    let long = 0
    for (const [n, end] of ends.entries()) {
      if (!isLong(end) || end.i <= read) continue
      const lifeMs = lives[n]!
      if (lifeMs === LIVES['1h']) long += tokens[end.i]! - written
      written = tokens[end.i]!
      this.#entries.set(keys[end.i]!, { expires: at + lifeMs, lifeMs, readable: at + answerMs })
    }
    const usage = {
      input_tokens: tokens.at(-1)! - written,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written - cached,
      cache_creation: { ephemeral_1h_input_tokens: long },
      output_tokens: asksForNothing ? 0 : 10,
    }
    return { status: 200, usage }
  }
}

/** What is documented to be refused of a request for no token. */
function refusesToWarm(body: CachedBody): boolean {
  const { thinking, output_config, tool_choice, stream } = body as {
    readonly [name: string]: { readonly [key: string]: unknown } | undefined | boolean
  }
  const has = (of: unknown, key: string) => (of as Record<string, unknown> | undefined)?.[key]
  const isForced = ['any', 'tool'].includes(String(has(tool_choice, 'type')))
  const isForm = has(output_config, 'format') !== undefined
  return stream === true || has(thinking, 'type') === 'enabled' || isForm || isForced
}

/** All blocks in the order of the prompt, and how many stand before the messages. */
function blocksOf(body: CachedBody): { blocks: readonly Block[]; head: number } {
  const system =
    typeof body.system === 'string' ? [{ type: 'text', text: body.system }] : body.system
  const before = [...(body.tools ?? []), ...((system ?? []) as object[])].map(block)
  const messages = body.messages.flatMap(({ role, content }) => {
    const list = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    return (list as object[]).map(each => block({ role, ...each }))
  })
  const blocks = [...before, ...messages]
  const last = blocks.at(-1)!
  if (body.cache_control && last.breakpoint === undefined) {
    blocks[blocks.length - 1] = { ...last, breakpoint: body.cache_control }
  }
  return { blocks, head: before.length }
}

function block(each: object): Block {
  const { cache_control: breakpoint, ...rest } = each as { cache_control?: CacheControl }
  return { text: JSON.stringify(rest), breakpoint }
}

/** A key for the prompt up to each block. */
function keysOf(body: CachedBody, blocks: readonly Block[], head: number): readonly string[] {
  const sum = createHash('sha256').update(String(body.model))
  return blocks.map(({ text }, i) => {
    if (i === head) sum.update(JSON.stringify(OF_MESSAGES.map(name => body[name] ?? null)))
    return sum.update(text).copy().digest('hex')
  })
}

function tokensOf(blocks: readonly Block[]): readonly number[] {
  let bytes = 0
  return blocks.map(({ text }) => {
    bytes += Buffer.byteLength(text)
    return Math.ceil(bytes / BYTES_A_TOKEN)
  })
}
