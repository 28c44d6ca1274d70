import { hash } from 'node:crypto'
import type { Random } from '../../../src/lab/bill/statistics.ts'
import { ATTEMPT_HEADER, type RecordingVendor } from '../turns/recording-vendor.ts'
import type { Findings } from './agent.ts'
import type { Replicas } from './replicas.ts'

export interface TalkerOptions {
  readonly name: string
  readonly tenant: string
  readonly headers: Readonly<Record<string, string>>
  readonly replicas: Replicas
  readonly vendor: Pick<RecordingVendor, 'take'>
  readonly random: Random
  readonly findings: Findings
}

interface Block {
  readonly type: string
  readonly content?: string
}
interface Message {
  readonly role: string
  readonly content: readonly Block[]
}

/** After so long without a fault every process has heard what others did. */
const CALM_MS = 3_000
/**
 * A turn that took longer may have waited for the server in vain, because the machine had no time
 * for one of them. That is an outage too.
 */
const PROMPT_MS = 1_500
const MOST_RESULTS = 12
const LINES = 160
const TRAIL = 6
const MARKER = /hash=([0-9a-f]{24})/g
const PATH = '/anthropic/v1/messages'

/** A client of a proxied conversation. It compares what arrives at the vendor in each turn. */
export class Talker {
  readonly #options: TalkerOptions
  #conversation = 0
  #results: string[] = []
  #attempts = 0
  /** Its last turns, for whoever looks for the cause of a violation. */
  #trail: readonly string[] = []
  /** What arrived in the last turn, and in the last one that no fault was near. */
  #last: readonly string[] = []
  #calm: { readonly messages: readonly string[]; readonly sentMs: number } | null = null

  constructor(options: TalkerOptions) {
    this.#options = options
  }

  /** One turn of the conversation, with a new result or as it was. */
  async act(): Promise<void> {
    const { random, headers, replicas, vendor, findings } = this.#options
    if (this.#results.length === MOST_RESULTS) this.#begin()
    if (this.#results.length === 0 || random(4) > 0) this.#results.push(this.#newResult())
    const attempt = `${this.#options.tenant} ${this.#options.name} ${this.#attempts++}`
    const sentMs = findings.nowMs()
    const calmSince = findings.calmSinceMs
    const own = headers['authorization']?.slice('Bearer '.length) ?? ''
    const named = { 'x-haversack-key': own, [ATTEMPT_HEADER]: attempt }
    const { status, trail } = await replicas.ask(PATH, named, this.#body())
    const arrived = vendor.take(attempt)
    if (status !== 200 || arrived === undefined) return this.#fault(`a turn answered ${status}`)
    findings.counts.turns++
    const messages = (JSON.parse(Buffer.from(arrived).toString()) as { messages: Message[] })
      .messages
    const texts = messages.map(message => JSON.stringify(message))
    const changedAt = changeIn(texts, this.#last)
    const mark = changedAt === null ? '' : `, other than before from ${changedAt} on`
    this.#trail = [...this.#trail, `${sentMs} ${texts.map(kindOf).join('')}:${trail}${mark}`].slice(
      -TRAIL,
    )
    if (changedAt !== null) findings.counts.changedNearFaults++
    const isPrompt = findings.nowMs() - sentMs < PROMPT_MS
    const isCalm = isPrompt && calmSince !== null && sentMs - calmSince > CALM_MS
    if (isCalm && findings.calmSinceMs === calmSince) {
      const before = this.#calm
      if (before !== null && changeIn(texts, before.messages) !== null) {
        findings.counts.changedNearFaults--
        if (before.sentMs > findings.emptiedMs) this.#fault('a turn has another prefix')
      }
      this.#calm = { messages: texts, sentMs }
    }
    this.#last = texts
    await this.#follow(messages.at(-1)?.content[0]?.content ?? '', sentMs)
  }

  #begin(): void {
    this.#conversation++
    this.#results = []
    this.#last = []
    this.#calm = null
  }

  /** A log of which parts can be left out, a table, or one of before. */
  #newResult(): string {
    const { tenant, name, random } = this.#options
    const owner = `${tenant} ${name} ${this.#conversation} ${this.#results.length}`
    const [first] = this.#results
    const kind = random(3)
    if (kind === 0 && first !== undefined) return first
    const lines = Array.from({ length: LINES }, (_, i) => hash('md5', `${owner} ${i}`))
    if (kind === 1) return JSON.stringify(lines.map((id, i) => ({ id, i, ok: i % 2 === 0 })))
    return lines.map((id, i) => `2026-03-01T10:00:00Z INFO ${id} took ${i} ms`).join('\n')
  }

  #body(): object {
    const messages = this.#results.flatMap((content, i): object[] => [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${i}`, name: 'Bash', input: { i } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content }] },
    ])
    const tools = ['Bash', 'headroom_retrieve'].map(name => ({ name, input_schema: {} }))
    return { model: 'claude-sonnet-4-5', max_tokens: 1, tools, messages }
  }

  /** Fetches what the newest result's markers name. */
  async #follow(sent: string, sentMs: number): Promise<void> {
    const { replicas, headers, findings } = this.#options
    const original = this.#results.at(-1)!
    for (const [, id = ''] of sent.matchAll(MARKER)) {
      findings.counts.markers++
      const { status, answer } = await replicas.ask(`/v1/retrieve/${id}`, headers)
      const given = (answer as { original_content?: string }).original_content
      if (sentMs <= findings.emptiedMs && (status === 404 || status === 410)) findings.counts.lost++
      else if (status !== 200 || given !== original) this.#fault(`dead (${status}): marker ${id}`)
    }
  }

  #fault(what: string): void {
    const { tenant, name, replicas, findings } = this.#options
    findings.violations.push(`${tenant} ${name}: ${what}`)
    process.stderr.write(`${findings.nowMs()} violation: ${tenant} ${name}: ${what}\n`)
    for (const line of [...this.#trail, ...replicas.said()]) process.stderr.write(`    ${line}\n`)
  }
}

/** Where messages differ from those of a turn before; `null` if they begin as that one. */
function changeIn(texts: readonly string[], before: readonly string[]): number | null {
  const at = before.findIndex((text, i) => texts[i] !== text)
  return at < 0 ? null : at
}

/** A call, or how a result was sent: with a marker, as a reference, otherwise, or as a JSON text. */
function kindOf(message: string): string {
  if (message.includes('tool_use"')) return ' '
  if (message.includes('hash=')) return 'm'
  if (message.includes('[ref')) return 'r'
  return message.includes('"id') ? 'j' : 'e'
}
