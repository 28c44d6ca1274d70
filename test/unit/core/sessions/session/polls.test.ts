import { describe, expect, it } from 'vitest'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { MAX_CALLS_AGO } from '../../../../../src/core/sessions/turn/refer-to-changes.ts'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { type ApiCall, apiWork, POLLS, polls } from '../../../../support/api-work.ts'
import { localContext } from '../../../../support/local-context.ts'
import { memoryStore } from '../../../../support/memory-store.ts'
import { readPlainly } from '../../../../support/plain-changes.ts'
import { sessionApp } from '../../../../support/session-app.ts'

const CHANGES = 'changes@1'

/** A client of one process, with a session. */
function client(pipeline = pipelineSchema.parse({})) {
  const sessions = createLocalSessions({ ...localContext(), pipeline }, { bodyBytes: 1 << 20 })
  const session = 's'
  return {
    encode: (call: ApiCall, more: object = {}) =>
      sessions.encode({ session, ...call, ...more } as never),
    decode: ({ content, format }: { readonly content: string; readonly format: string }) =>
      sessions.decode({ content, format, session }).content,
    original: (ref: string) => sessions.original(ref, session),
  }
}

const refOf = (content: string) =>
  /^> \[near-ref (\w+) get_pipeline \d calls? ago, except:\]\n/.exec(content)?.[1]

describe('a pipeline that is polled', () => {
  it('is written as what changed, in one step, at less than half of its price', () => {
    const { encode, decode, original } = client()
    const whole = new Map<string, number>()
    let tokens = 0
    let changed = 0
    for (const [at, poll] of polls().entries()) {
      const answer = encode(poll)
      tokens += answer.tokens.final
      expect(decode(answer)).toBe(poll.content)
      const ref = refOf(answer.content)
      if (ref === undefined) {
        whole.set(answer.ref!, at)
        continue
      }
      changed++
      expect(answer).toMatchObject({ format: CHANGES, layer: 'L0', lossless: true })
      // Never to another answer of changes, and no further than eight calls.
      const [, base] = [...whole].find(([each]) => each.startsWith(ref))!
      expect(at - base).toBeLessThanOrEqual(MAX_CALLS_AGO)
      expect(answer.content).toContain(` ${at - base} call`)
      expect(readPlainly(answer.content, JSON.parse(original(ref)!))).toEqual(
        JSON.parse(poll.content),
      )
    }
    expect(changed + whole.size).toBe(POLLS)
    expect(changed).toBeGreaterThanOrEqual(15)
    expect(tokens).toBeLessThanOrEqual(1_750)
  })

  it('is written as what changed up to half of the price of the whole', () => {
    const fields = Array.from({ length: 40 }, (_, at) => `field_${at}`)
    const poll = (changed: number): ApiCall => {
      const members = fields.map((name, at) => [name, `${at < changed ? 'now' : 'was'} ${at}`])
      return { tool: 'poll', args: {}, content: JSON.stringify(Object.fromEntries(members)) }
    }
    const { encode } = client()
    const shares = fields.flatMap((_, changed) => {
      const session = `after ${changed}`
      encode(poll(0), { session })
      const { format, tokens } = encode(poll(changed), { session })
      const alone = encode(poll(changed), { session: `alone ${changed}` })
      return format === CHANGES ? tokens.final / alone.tokens.final : []
    })
    expect(Math.max(...shares)).toBeLessThanOrEqual(0.5)
    expect(Math.max(...shares)).toBeGreaterThan(0.45)
  })

  it('is written whole where its base is too far, gone, or of another call', () => {
    const [first, second, third] = polls()
    const formats = (calls: readonly (ApiCall & { readonly is_error?: boolean })[]) => {
      const { encode } = client()
      return calls.map(call => encode(call).format)
    }
    const other = { tool: 'look', args: {}, content: 'x'.repeat(300) }
    const others = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ ...other, args: { at } }))
    expect(formats([first!, second!]).at(-1)).toBe(CHANGES)
    expect(formats([first!, ...others(7), second!]).at(-1)).toBe(CHANGES)
    expect(formats([first!, ...others(8), second!]).at(-1)).toBe('tree@2')
    expect(formats([{ ...first!, is_error: true }, second!]).at(-1)).toBe('tree@2')
    expect(formats([first!, { ...second!, is_error: true }]).at(-1)).toBe('tree@2')
    expect(formats([first!, { ...second!, args: { id: 1 } }]).at(-1)).toBe('tree@2')
    expect(formats([first!, { ...second!, tool: 'get_job' }]).at(-1)).toBe('tree@2')
    // What is equal to an answer of changes is one again, never a reference to it.
    expect(formats([first!, second!, second!, third!]).slice(1)).toEqual([
      CHANGES,
      CHANGES,
      CHANGES,
    ])
  })

  it('is whole if the configuration or the request says so', () => {
    const [first, second, third] = polls()
    const off = client(pipelineSchema.parse({ dedup: { near_ref_enabled: false } }))
    off.encode(first!)
    expect(off.encode(second!).format).toBe('tree@2')
    const named = client()
    named.encode(first!)
    expect(named.encode(second!, { formats: ['tree'] }).format).toBe('tree@2')
    expect(named.encode(third!, { formats: ['changes', 'tree'] }).format).toBe(CHANGES)
    expect(named.encode(third!, { is_sidechain: true }).format).toBe('tree@2')
  })

  it('gets the same answer again, and goes on after a compaction with a whole one', async () => {
    const { store, clock } = memoryStore()
    const app = sessionApp({ store, clock })
    const [first, second, third] = polls()
    const session = 's'
    await app.encode({ ...first, session, tool_call_id: 't1' })
    const answer = await app.encode({ ...second, session, tool_call_id: 't2' })
    expect(answer.format).toBe(CHANGES)
    expect(await app.encode({ ...second, session, tool_call_id: 't2' })).toEqual(answer)
    expect(await app.decode(answer, session)).toBe(second!.content)
    expect(await app.dedup({ ...third, session })).toMatchObject({ kind: 'near' })
    await app.post(`/v1/sessions/${session}/compaction`, {})
    expect((await app.encode({ ...second, session })).format).toBe('tree@2')
    app.mishaps.put = 'full'
    expect((await app.encode({ ...third, session })).format).toBe('tree@2')
  })
})

it('each answer of work with an API is exact, and none is bigger', () => {
  const { encode, decode } = client()
  for (const call of apiWork()) {
    const answer = encode(call)
    expect(decode(answer)).toBe(call.content)
    expect(answer.tokens.final).toBeLessThanOrEqual(answer.tokens.baseline)
  }
})
