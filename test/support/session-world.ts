import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { EncodeAnswer } from '../../src/core/contract/encode.ts'
import { parseHint } from '../../src/core/hints/hint-line.ts'
import { pipelineSchema } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { readReference } from '../../src/core/sessions/lines/reference-line.ts'
import {
  type AgentContext,
  createAgentContext,
  type Held,
  type SentResult,
  type Taken,
} from './agent-context.ts'
import { type SessionAppOptions, sessionApp, sourceText } from './session-app.ts'
import { hiddenLines, readAnswer } from './shown-lines.ts'

const NONE: ReadonlySet<number> = new Set()
const NOTHING: Taken = { sequence: 0, held: [], own: [] }

const PIPELINE = pipelineSchema.parse({
  dedup: {
    near_ref_enabled: true,
    lru_size: 4,
    min_body_chars: 100,
    invalidates: { Drop: ['Read'] },
  },
  hints: { types: { search_chain: {} } },
})

const file = fc.constantFrom('a', 'b', 'c')
const lines = (text: string) => text.split('\n')
/**
 * What may be read: a few texts, whole, in part, changed, one behind another, with numbers, as
 * JSON.
 */
const content = fc.tuple(file, file, fc.nat(9), fc.nat(30)).map(([name, other, way, at]) => {
  const text = sourceText(name, 30)
  if (way < 2) return text
  if (way === 3) return lines(text).toSpliced(at, 1, `changed(${at})`).join('\n')
  if (way === 4) return lines(text).slice(at).join('\n')
  if (way === 5) return `${text}\n${lines(sourceText(other, 30)).slice(at).join('\n')}`
  if (way === 6)
    return lines(text)
      .map((line, i) => `${String(i + at + 1).padStart(6)}→${line}`)
      .join('\n')
  if (way === 7) return JSON.stringify({ at, name, text })
  if (way === 8) return `> [ref 0a1b2c3d lines 1-${at + 1} of Read(x)]\n\\${text}\r\n`
  return ['short', '', `\ud800${text}`, '\u{1f600}'.repeat(200)][at % 4]!
})

const request = fc.record(
  {
    content,
    tool: fc.constantFrom('Read', 'Read', 'Grep', 'Grep', 'Grep', 'Write', 'Edit', 'Drop'),
    args: fc.oneof(
      file.map(name => ({ file_path: `${name}.ts` })),
      fc.tuple(file, content).map(([name, text]) => ({ file_path: `./${name}.ts`, content: text })),
    ),
    tool_call_id: fc.constantFrom('t1', 't2', 't3', 't4'),
    is_error: fc.constant(true),
    is_sidechain: fc.constant(true),
    budget_tokens: fc.integer({ min: 5, max: 900 }),
    mode: fc.constant('trim'),
    tokenizer: fc.constantFrom('cl100k_base', 'anthropic_class'),
    formats: fc.constantFrom(['csv'], ['lines', 'numbered'], ['ref', 'tree']),
  },
  { requiredKeys: ['content', 'tool', 'args'] },
)
// Rare fields stay rare.
const result = fc
  .tuple(request, fc.nat(11))
  .map(([{ is_error, is_sidechain, budget_tokens, mode, tokenizer, formats, ...rest }, way]) => ({
    ...rest,
    // A call has one tool and one set of arguments.
    ...(rest.tool_call_id === undefined
      ? {}
      : {
          tool_call_id: `${rest.tool_call_id} ${rest.tool} ${hash('md5', JSON.stringify(rest.args))}`,
        }),
    ...(way === 0 && is_error ? { is_error } : {}),
    ...(way === 1 && is_sidechain ? { is_sidechain } : {}),
    ...(way <= 3 && budget_tokens !== undefined ? { budget_tokens } : {}),
    ...(way <= 2 && budget_tokens !== undefined && mode ? { mode } : {}),
    ...(way === 4 && tokenizer ? { tokenizer } : {}),
    ...(way === 5 && formats ? { formats } : {}),
  }))

const where = {
  tenant: fc.constantFrom(0, 0, 1),
  session: fc.constantFrom('s', 's', 't'),
  replica: fc.nat(2),
}
/** What clients and operators do. */
export const sessionStep = fc.oneof(
  { weight: 20, arbitrary: fc.record({ ...where, do: fc.constant('encode' as const), result }) },
  {
    weight: 4,
    arbitrary: fc.record({ ...where, do: fc.constant('again' as const), back: fc.nat(4) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...where,
      do: fc.constant('batch' as const),
      results: fc.array(result, { minLength: 2, maxLength: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      ...where,
      do: fc.constantFrom(
        'compaction',
        'close',
        'invalidate',
        'purge',
        'refuse',
        'lose',
        'wait',
        'restart',
      ),
    }),
  },
)
type Step = typeof sessionStep extends fc.Arbitrary<infer S> ? S : never
type Sent = SentResult & { readonly budget_tokens?: number; readonly formats?: readonly string[] }

export interface WorldOptions {
  readonly bodyBytes: number
  readonly hasCallIds: boolean
  readonly calmTurns?: number
  /** How many turns were expected to be others than they were: their sessions began again. */
  readonly conflicts?: () => number
  /** One for each replica. If there are several, the replicas share the sessions. */
  readonly stores: readonly WorldStore[]
  readonly clock: { now: number }
}

type WorldStore = SessionAppOptions['store'] & { purgeTenant(tenant: string): unknown }

/** A service that is told what goes wrong, and what its clients' agents hold. */
export function createSessionWorld({
  bodyBytes,
  hasCallIds,
  calmTurns = 64,
  conflicts = () => 0,
  stores,
  clock,
}: WorldOptions) {
  const named = ({ tool_call_id, ...rest }: Sent): Sent => {
    return hasCallIds && tool_call_id !== undefined ? { ...rest, tool_call_id } : rest
  }

  const isShared = stores.length > 1
  const start = (store: WorldStore) =>
    sessionApp({ store, clock, pipeline: PIPELINE, bodyBytes, isShared, calmTurns })
  const apps = stores.map(start)
  /** The replica whose turn it is. */
  let app = apps[0]!
  let contexts = new Map<string, AgentContext>()
  /**
   * Answers by session, call and request; cleared where an answer may change, since it is true no
   * more.
   */
  let answers = new Map<string, string>()
  let life = 0
  let sent: Step[] = []
  const seen = { exact: 0, near: 0, lines: 0, again: 0, moved: 0, checked: 0 }

  const contextOf = (tenant: number, session: string) => {
    const key = `${tenant} ${session}`
    const context = contexts.get(key) ?? createAgentContext()
    contexts.set(key, context)
    return context
  }

  async function check(
    answer: EncodeAnswer,
    sent: Sent,
    tenant: number,
    session: string,
    isSure: boolean,
  ) {
    const context = contextOf(tenant, session)
    const isPart = sent.is_sidechain === true
    const taken = isPart ? NOTHING : context.take(sent)
    const { sequence } = taken
    if ('code' in answer) {
      // What is trimmed must be kept.
      const codes = isSure ? ['budget_too_small'] : ['budget_too_small', 'overloaded']
      expect(codes).toContain(answer.code)
      return
    }
    if (!isPart) expect(answer.partition).toBe(context.partition)
    const escapes = 6 * (answer.look_alikes ?? 0)
    const most = sent.budget_tokens ?? answer.tokens.baseline + escapes
    expect(answer.tokens.final).toBeLessThanOrEqual(most)
    if (answer.lossless && answer.shape !== 'json_object') {
      expect(await app.decode(answer, session, tenant)).toBe(sent.content)
    }
    if (answer.ref !== undefined) {
      expect(sent.is_error).toBeUndefined()
      expect(await app.original(answer.ref, session, tenant)).toBe(sent.content)
    }
    if (answer.layer === 'L0') await checkReferences(answer, taken, tenant, session)
    const call = `${tenant} ${session} ${sequence} ${JSON.stringify(sent)}`
    const before = answers.get(call)
    if (isSure && sent.tool_call_id !== undefined && !isPart) {
      if (before !== undefined) {
        expect(JSON.stringify(answer)).toBe(before)
        seen.again++
      }
      answers.set(call, JSON.stringify(answer))
    }
  }

  async function checkReferences(
    { content, format, hints }: EncodeAnswer,
    { sequence, held, own }: Taken,
    tenant: number,
    session: string,
  ) {
    expect(hints.length).toBeGreaterThan(0)
    seen[format === 'ref@1' ? 'exact' : format === 'near@1' ? 'near' : 'lines']++
    const texts = lines(content)
    const originals = new Map<string, string>()
    /** What each id leads to. */
    const named = new Map<string, readonly Held[]>()
    for (const { text } of hints) {
      expect(texts).toContain(text)
      // Further lines of the same body name no id.
      const ref = readReference(text)?.ref ?? refOf(text)
      if (ref === undefined) continue
      const original = (await app.original(ref, session, tenant)) as string
      const sources = held.filter(each => each.text === original)
      expect(sources).not.toEqual([])
      originals.set(ref, original)
      const call = callOf(text)
      const from = sequence - (call?.calls_ago ?? 0)
      const meant =
        call && sources.filter(each => each.tool === call.tool && each.sequence === from)
      expect(meant).not.toEqual([])
      if (meant !== undefined || !named.has(ref)) named.set(ref, meant ?? sources)
    }
    checkOneStep({ content, format }, originals, named, own)
    await checkFetches({ content, format }, originals, tenant, session)
  }

  /** What a reference leads to stands there: it is no reference itself. */
  function checkOneStep(
    answer: Pick<EncodeAnswer, 'content' | 'format'>,
    originals: ReadonlyMap<string, string>,
    named: ReadonlyMap<string, readonly Held[]>,
    own: readonly Held[],
  ) {
    const read = readAnswer(answer, originals)
    if (read === null && answer.format.startsWith('escaped')) return
    if (read === null) {
      for (const each of [...named.values()].flat()) expect(each.hidden ?? new Set()).toEqual(NONE)
      return
    }
    for (const { ref, from, end } of read.references) {
      const isThere = ({ hidden = NONE }: Held) =>
        !Array.from({ length: end - from }, (_, k) => from + k).some(line => hidden.has(line))
      expect(named.get(ref)!.some(isThere)).toBe(true)
      seen.checked++
    }
    for (const each of own) each.hidden = hiddenLines(each.text, read.lines)
  }

  /** A range that is fetched by the numbers of its reference is the lines it represents. */
  async function checkFetches(
    answer: Pick<EncodeAnswer, 'content' | 'format'>,
    originals: ReadonlyMap<string, string>,
    tenant: number,
    session: string,
  ) {
    for (const { ref, lines: range, from, end } of readAnswer(answer, originals)?.references ??
      []) {
      const part = (await app.part(ref, range, session, tenant)) as string
      const shown = lines(originals.get(ref)!).slice(from, end).join('\n')
      expect(part.replace(/\n$/, '')).toBe(shown.replace(/\n$/, ''))
    }
  }

  const refOf = (text: string) => {
    const hint = parseHint(text)
    return hint !== null && 'ref' in hint ? hint.ref : undefined
  }
  const callOf = (text: string) => {
    const hint = parseHint(text.slice(0, text.lastIndexOf(']') + 1))
    const isEarlier = hint?.family === 'lines' || hint?.family === 'reference'
    return isEarlier || hint?.family === 'near_reference' ? hint.call : undefined
  }

  function forget(isGone: (key: string) => boolean): void {
    for (const key of [...contexts.keys()]) if (isGone(key)) contexts.delete(key)
  }

  /** Retries are answered anew. */
  function forgetAnswers(start: string): void {
    for (const call of answers.keys()) if (call.startsWith(start)) answers.delete(call)
  }

  let isRefusing = false
  function refuse(isOn: boolean): void {
    isRefusing = isOn
    for (const { mishaps } of apps) mishaps.put = isOn ? 'full' : null
  }

  async function run(each: Step): Promise<void> {
    const { tenant, replica } = each
    if (apps[replica % apps.length] !== app) seen.moved++
    app = apps[replica % apps.length]!
    const session = `${each.session}${life}`
    const path = `/v1/sessions/${session}`
    switch (each.do) {
      case 'encode': {
        sent.push(each)
        const before = conflicts()
        const answer = await app.encode({ ...named(each.result as Sent), session }, tenant)
        const isMoved = conflicts() > before
        if (isMoved) forgetAnswers(`${tenant} ${session} `)
        const isSure = !isRefusing && !isMoved
        await check(answer, named(each.result as Sent), tenant, session, isSure)
        refuse(false)
        return
      }
      case 'batch': {
        const isSure = !isRefusing
        const jobs = each.results.map(job => {
          return { op: 'encode', ...named(job as Sent), session }
        })
        type Result = { ok?: boolean; problem?: object } & EncodeAnswer
        const answered = (await app.post('/v1/batch', { jobs }, tenant)) as { results?: Result[] }
        for (const [i, job] of each.results.entries()) {
          // Where something trimmed cannot be kept, the whole batch is refused.
          const {
            ok = false,
            problem,
            ...answer
          } = answered.results?.[i] ?? ({ problem: answered } as unknown as Result)
          const given = (problem ?? answer) as EncodeAnswer
          await check(given, named(job as Sent), tenant, session, isSure && ok)
        }
        refuse(false)
        return
      }
      case 'again': {
        const earlier = sent.at(-1 - each.back)
        if (earlier !== undefined) await run(earlier)
        return
      }
      case 'compaction':
        if ('partition' in ((await app.post(`${path}/compaction`, {}, tenant)) as object)) {
          contextOf(tenant, session).compact()
        }
        return
      case 'close':
        await app.call('DELETE', path, undefined, tenant)
        contexts.delete(`${tenant} ${session}`)
        break
      case 'invalidate':
        await app.post(`${path}/invalidate`, { file_paths: ['a.ts'], tools: ['Write'] }, tenant)
        return
      case 'purge':
        await stores[0]!.purgeTenant(tenant === 0 ? 'acme' : 'beta')
        // What processes tell each other of its sessions goes too.
        if (isShared) forget(key => key.startsWith(`${tenant} `))
        break
      case 'refuse':
        refuse(true)
        return
      case 'lose':
        app.mishaps.lost = 1
        return
      case 'wait':
        clock.now += 2 * 3_600_000
        if (isShared) forget(() => true)
        break
      default:
        app = start(stores[replica % apps.length]!)
        apps[replica % apps.length] = app
        // The others know what it knew.
        if (isShared) return
        contexts = new Map()
    }
    // What was sent before cannot be sent again where it is true no more.
    answers = new Map()
  }

  /** Other sessions, and nothing wrong any more. */
  function begin(): void {
    life++
    sent = []
    contexts = new Map()
    answers = new Map()
    refuse(false)
    for (const { mishaps } of apps) mishaps.lost = 0
  }

  return { begin, run, seen }
}
