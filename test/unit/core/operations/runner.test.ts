import { hash } from 'node:crypto'
import { Packr } from 'msgpackr'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toBytes } from '../../../../src/core/base/text-bytes.ts'
import type { Operation } from '../../../../src/core/operations/operation.ts'
import { OPERATIONS } from '../../../../src/core/operations/registry.ts'
import { readChanges, type WrittenChanges } from '../../../../src/core/sessions/journal/changes.ts'
import { createSharedSessions } from '../../../../src/core/sessions/turn/shared-sessions.ts'
import type { JobHeader } from '../../../../workers/protocol.ts'
import { rowWith } from '../../../support/result-rows.ts'
import { bytesOf, header, inlineRunner, workerSetup } from '../../../support/runner.ts'

const throwing: Operation = {
  name: 'throwing',
  request: z.unknown(),
  answer: z.unknown(),
  run() {
    throw new TypeError('secret text of a bug')
  },
}
/** Tells telemetry how many jobs were done when it was told. */
let done = 0
const telling: Operation<{ content: string }> = {
  name: 'telling',
  request: z.object({ content: z.string() }),
  answer: z.unknown(),
  run({ content }) {
    done++
    const row = () => {
      if (content === 'bug') throw new TypeError('secret text of a bug')
      return rowWith({ input: { bytes: done } })
    }
    return { answer: {}, reports: [{ op: 'telling', row }] }
  },
}
const sessions = createSharedSessions({ maxSessions: 8, maxEntries: 64, seeds: [1, 2] }, 1 << 20)
const setup = { ...workerSetup(), sessions }
/** SHA-256 of the length of the call's name, the name and the SHA-256 of `body`. */
const CALL = hash('sha256', Buffer.from(`7:call c1${hash('sha256', 'body')}`, 'utf16le'))
const runBatch = inlineRunner({ ...OPERATIONS, throwing, telling }, setup)

/** Runs one request as a message of its own; the answer is parsed where there is one. */
function run(op: string, body: unknown, fields: Partial<JobHeader> = {}) {
  const bytes = body instanceof Uint8Array ? bytesOf(body) : bytesOf(JSON.stringify(body))
  const { outcomes, body: out } = runBatch({
    jobs: [header(op, bytes, fields)],
    body: bytes.buffer,
    slot: 0,
  })
  const [outcome] = outcomes
  if (outcome === undefined) throw new Error('no outcome')
  if (outcome.kind !== 'done') return { outcome, answer: undefined }
  const raw = Buffer.from(out, outcome.start, outcome.length)
  const answer =
    outcome.media === 'json'
      ? JSON.parse(raw.toString())
      : new Packr({ useRecords: false }).unpack(raw)
  return { outcome, answer }
}

describe('a worker', () => {
  it('answers one job in JSON', () => {
    expect(run('count', { content: 'hello world' }).answer).toEqual({
      tokens: 2,
      tokenizer: 'o200k_base',
      exact: true,
    })
  })

  it('reads and answers MessagePack', () => {
    const body = new Packr({ useRecords: false }).pack({ contents: ['a', 'b c'] })
    const { answer } = run('count', body, { media: 'msgpack', accept: 'msgpack' })
    expect(answer).toMatchObject({ counts: [1, 2] })
  })

  /** Runs requests of one operation as one message. */
  function runTogether(op: string, texts: readonly string[]) {
    const bodies = texts.map(bytesOf)
    const body = bytesOf(Buffer.concat(bodies))
    let at = 0
    const jobs = bodies.map(bytes => {
      at += bytes.length
      return header(op, bytes, { start: at - bytes.length })
    })
    return runBatch({ jobs, body: body.buffer, slot: 0 })
  }

  it('makes rows when all jobs of a batch are done, and fails alone where that fails', () => {
    const texts = ['a', 'bug', 'c'].map(content => JSON.stringify({ content }))
    const { outcomes } = runTogether('telling', texts)
    expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'failed', 'done'])
    const told = outcomes.flatMap(each => (each.kind === 'done' ? each.reports : []))
    expect(told.map(({ row }) => JSON.parse(row!).input.bytes)).toEqual([3, 3])
  })

  it('keeps the jobs of a batch apart', () => {
    const result = runTogether('count', [
      '{"content":"one"}',
      '{"content":',
      '{"content":"one two three"}',
    ])
    expect(result.outcomes.map(({ kind }) => kind)).toEqual(['done', 'failed', 'done'])
    const answers = result.outcomes.flatMap(outcome =>
      outcome.kind === 'done'
        ? [JSON.parse(Buffer.from(result.body, outcome.start, outcome.length).toString())]
        : [],
    )
    expect(answers.map(({ tokens }) => tokens)).toEqual([1, 3])
  })

  it('says which job it is at, where the pool can see it', () => {
    run('count', { content: 'x' })
    expect(new Int32Array(setup.progress)[0]).toBe(0)
  })

  it('gives expected failures back as values', () => {
    expect(run('encode', { content: 5 }).outcome).toMatchObject({
      kind: 'failed',
      problem: { code: 'invalid_request', errors: [{ path: 'content' }] },
    })
    expect(run('decode', { content: 'a\n"', format: 'csv@1' }).outcome).toMatchObject({
      kind: 'failed',
      problem: { code: 'not_decodable' },
    })
    expect(run('decode', { content: '', format: 'csv@99' }).outcome).toMatchObject({
      problem: { code: 'not_decodable' },
    })
  })

  it.each([
    ['count', { content: 'x' }],
    ['decode', { content: '[1]', format: 'json_compact@1' }],
  ])('reports nothing of %s, whose fields clients choose', (op, request) => {
    expect(run(op, request).outcome).toMatchObject({ kind: 'done', reports: [] })
  })

  it('answers a bug as internal and keeps its text for the log', () => {
    const { outcome } = run('throwing', {})
    expect(outcome).toMatchObject({ kind: 'failed', problem: { code: 'internal' } })
    if (outcome.kind !== 'failed') return
    expect(JSON.stringify(outcome.problem)).not.toContain('secret')
    expect(outcome.bug).toContain('secret text of a bug')
  })
})

describe('count', () => {
  it.each([[{}], [{ content: 'a', contents: [] }], [{ content: 'a', tokenizer: 'x' }]])(
    'refuses %j',
    request => {
      expect(run('count', request).outcome).toMatchObject({ problem: { code: 'invalid_request' } })
    },
  )
})

describe('batch', () => {
  it('answers each job by itself and in order', () => {
    const { answer } = run('batch', {
      jobs: [
        { op: 'count', content: 'a b' },
        { op: 'fly' },
        { op: 'count', content: 7 },
        { op: 'encode', content: '{"a":   1}' },
        { op: 'decode', content: '[1]', format: 'nope@1' },
        { content: 'no op' },
      ],
    })
    expect(answer.results).toMatchObject([
      { ok: true, tokens: 2 },
      { ok: false, problem: { code: 'invalid_request', status: 400 } },
      { ok: false, problem: { code: 'invalid_request', errors: [{ path: 'content' }] } },
      { ok: true, layer: 'L2' },
      { ok: false, problem: { code: 'not_decodable', status: 422 } },
      { ok: false, problem: { code: 'invalid_request' } },
    ])
  })

  it('reports every encode in it', () => {
    const { outcome } = run('batch', {
      jobs: [
        { op: 'encode', content: '{"a":   1}' },
        { op: 'encode', content: 'x' },
      ],
    })
    const reports = outcome.kind === 'done' ? outcome.reports : []
    const layers = reports.map(({ row }) => JSON.parse(row!).sent.layer)
    expect(layers).toEqual(['L2', 'L3'])
  })

  it('bounds what all its jobs decode to together', () => {
    const rows = Array.from({ length: 1_000 }, (_, id) => id).join('\n')
    const decode = { op: 'decode', format: 'csv@1', content: `${'k'.repeat(500)}\n${rows}` }
    const { answer } = run('batch', { jobs: Array(300).fill(decode) })
    const oks = (answer.results as { ok: boolean }[]).map(({ ok }) => ok)
    expect(oks.indexOf(false)).toBeGreaterThan(0)
    expect(oks.lastIndexOf(true)).toBeLessThan(oks.indexOf(false))
    expect(JSON.stringify(answer).length).toBeLessThan(3_000_000)
  })

  it('refuses jobs that are no list, and too many of them', () => {
    for (const jobs of ['x', { op: 'count' }, [1], Array(1_001).fill({})]) {
      expect(run('batch', { jobs }).outcome).toMatchObject({ problem: { code: 'invalid_request' } })
    }
  })
})

describe('two phases', () => {
  const request = {
    content: 'body',
    session: 's1',
    tool: 'Read',
    tool_call_id: 'c1',
    file_path: '/f',
  }

  it('ask for the session, and give the body back', () => {
    const bytes = bytesOf(JSON.stringify(request))
    const result = runBatch({
      jobs: [header('encode', bytes, { phase: 'ask' })],
      body: bytes.buffer,
      slot: 0,
    })
    const [outcome] = result.outcomes
    expect(outcome).toMatchObject({
      kind: 'ask',
      lookups: [{ session: { session: 's1', isCounted: true, call: CALL } }],
    })
    if (outcome?.kind !== 'ask') return
    expect(JSON.parse(Buffer.from(result.body, outcome.start, outcome.length).toString())).toEqual(
      request,
    )
  })

  it.each([
    ['another call', { tool_call_id: 'c2' }],
    ['another result', { content: 'text' }],
  ])('have another name for %s', (_, other) => {
    const { outcome } = run('encode', { ...request, ...other }, { phase: 'ask' })
    if (outcome.kind !== 'ask') throw new Error('there is nothing to ask')
    expect(outcome.lookups[0]?.session?.call).not.toBe(CALL)
  })

  it('count no result of a sub-agent, and none that is refused', () => {
    const side = run('dedup', { ...request, is_sidechain: true }, { phase: 'ask' }).outcome
    expect(side).toMatchObject({ lookups: [{ session: { session: 's1', isCounted: false } }] })
    const refused = { ...request, formats: ['nope@1'] }
    expect(run('encode', refused, { phase: 'ask' }).outcome.kind).toBe('failed')
  })

  it('ask for no session if the answer is to be without', () => {
    const { outcome } = run('encode', request, { phase: 'ask', sessionless: true })
    expect(outcome.kind).toBe('done')
  })

  it('count as the processes do that share the session, and tell what they changed', () => {
    const content = Array.from({ length: 60 }, (_, i) => `${i * i} a line of its own`).join('\n')
    const texts = new Map([[hash('sha256', content), toBytes(content)]])
    const turn = (
      sequence: number,
      tool_call_id: string,
      changes: readonly WrittenChanges[] = [],
      isUnsure = false,
    ) => {
      const results = sequence
      const known = { epoch: 9, partition: 3, results, openedMs: 0, timeMs: 0, isBroken: false }
      const shared = { ...known, isUnsure, sequence, from: 0, to: changes.length, changes, texts }
      const body = { ...request, content, tool_call_id }
      return run('encode', body, { phase: 'finish', resolutions: [{ shared }] })
    }
    const { answer, outcome } = turn(5, 'c5')
    expect(answer).toMatchObject({ partition: 3, ref: expect.any(String) })
    if (outcome.kind !== 'done') throw new Error('it is not done')
    const [changed] = outcome.changes!
    expect(changed).toMatchObject({ session: 's1', epoch: 9, texts: [{ bytes: content.length }] })
    expect(readChanges(changed!, [])).toMatchObject([{ sequence: 5 }])
    // In this process it is pending until it is kept. Told by the journal, it is there.
    expect(turn(9, 'c9', [changed!]).answer.content).toContain('4 calls ago')
    // A turn between may be missing, so the distance is not known.
    const { content: unsure } = turn(11, 'c11', [], true).answer
    expect(unsure).toMatch(/^> \[ref /)
    expect(unsure).not.toContain('ago')
  })

  it('answer without the session if it is unknown what others did there', () => {
    const unknown = { ...request, session: 's2' }
    const { answer } = run('encode', unknown, { phase: 'finish', resolutions: [{}] })
    expect(answer).toMatchObject({ layer: 'L3', partition: 0 })
    expect(answer).not.toHaveProperty('ref')
  })

  it('end in the first where there is nothing to ask', () => {
    expect(run('count', { content: 'x' }, { phase: 'ask' }).outcome.kind).toBe('done')
    expect(run('encode', { content: 'x' }, { phase: 'ask' }).outcome.kind).toBe('done')
  })

  it('ask once for each job of a batch, and hand each its answer', () => {
    const jobs = [
      { op: 'count', content: 'x' },
      { op: 'encode', content: 'x', session: 's1' },
      { op: 'nope' },
      { op: 'encode', content: 'y', session: 's2' },
    ]
    expect(run('batch', { jobs }, { phase: 'ask' }).outcome).toMatchObject({
      lookups: [null, { session: { session: 's1' } }, null, { session: { session: 's2' } }],
    })
  })
})
