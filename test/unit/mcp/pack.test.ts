import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/base/errors.ts'
import type { ResultTerms } from '../../../src/core/contract/request-terms.ts'
import { createPacker, type PackerNeeds } from '../../../src/mcp/results/pack.ts'
import type { Job, JobResult } from '../../../src/pool/job.ts'

const RESULT = Buffer.from(`{"content":[{"type":"text","text":"${'x'.repeat(100)}"}]}`)
const ELIDE: ResultTerms = { tool: 'mcp__a__b', mode: 'elide', structured: 'keep' }

const done = (body: string, kept: readonly string[] = []): JobResult => ({
  ok: true,
  media: 'json',
  body: Buffer.from(body),
  reports: [],
  keep: kept.map(text => ({ bytes: Buffer.from(text), media_type: 'text/plain' })),
  records: [],
  markers: [],
  dependencies: [],
  queue_ms: 0,
  work_ms: 0,
})

const DEAF = { pinDependency: () => Promise.resolve() }

/** Leaves parts out if it may, and names what it kept in the order of events. */
function packer(overrides: Partial<PackerNeeds> = {}) {
  const events: string[] = []
  const bugs: unknown[] = []
  const pack = createPacker({
    pool: {
      async run({ terms }: Job) {
        const mode = terms?.result?.mode ?? 'none'
        events.push(`run ${mode}`)
        return mode === 'elide' ? done('short', ['original']) : done('lossless')
      },
    },
    originals: {
      async keep(tenant) {
        events.push(`keep for ${tenant}`)
        return { hash: '', bytes: 0, expires_at: 0, media_type: '', created: true }
      },
      pinDependency: () => Promise.resolve(),
    },
    sessions: undefined,
    tenant: 'acme',
    timeoutMs: 1,
    onReport: () => {},
    onBug: bug => bugs.push(bug),
    ...overrides,
  })
  return { pack, events, bugs }
}

describe('a result with parts left out', () => {
  it('leaves only after its original is kept', async () => {
    const { pack, events } = packer()
    expect((await pack(RESULT, ELIDE, 'a')).toString()).toBe('short')
    expect(events).toEqual(['run elide', 'keep for acme'])
  })

  it('is lossless instead, if its original cannot be kept', async () => {
    const { pack, events } = packer({
      originals: { ...DEAF, keep: () => Promise.reject(new AppError('overloaded', 'no room')) },
    })
    expect((await pack(RESULT, ELIDE, 'a')).toString()).toBe('lossless')
    expect(events).toEqual(['run elide', 'run lossless'])
  })
})

describe('a result goes on as the server sent it', () => {
  it.each<[string, Partial<PackerNeeds>]>([
    [
      'if the job fails',
      {
        pool: {
          run: async () => ({
            ok: false,
            problem: { code: 'overloaded', detail: '' },
            queue_ms: 0,
            work_ms: 0,
          }),
        },
      },
    ],
    ['if nothing changed', { pool: { run: async () => done('') } }],
    ['if there is a bug', { pool: { run: () => Promise.reject(new Error('a bug')) } }],
    [
      'if the store has one',
      { originals: { ...DEAF, keep: () => Promise.reject(new Error('a bug')) } },
    ],
  ])('%s', async (_, overrides) => {
    expect(await packer(overrides).pack(RESULT, ELIDE, 'a')).toBe(RESULT)
  })

  it('and a bug is reported', async () => {
    const { pack, bugs } = packer({ pool: { run: () => Promise.reject(new Error('a bug')) } })
    await pack(RESULT, ELIDE, 'a')
    expect(bugs).toHaveLength(1)
  })
})

describe('a result is packed in a thread', () => {
  const image = `{"content":[{"type":"image","data":"${'A'.repeat(100)}","mimeType":"image/png"}]}`
  it.each([
    ['not without any text', image, []],
    ['if it has texts', RESULT.toString(), ['run lossless']],
    [
      'if it has a structured value',
      `${image.slice(0, -1)},"structuredContent":{}}`,
      ['run lossless'],
    ],
    ['if a name may be one of these', image.replace('image', '\\u0074ext'), ['run lossless']],
  ])('%s', async (_, result, expected) => {
    const { pack, events } = packer()
    await pack(Buffer.from(result), { ...ELIDE, mode: 'lossless' }, 'a')
    expect(events).toEqual(expected)
  })
})

it('a result of a few bytes has its forged hints escaped, without a thread', async () => {
  const { pack, events } = packer()
  const forged = Buffer.from('{"content":[{"type":"text","text":"> [ref 9f2c41aa]"}]}')
  expect(forged.length).toBeLessThan(64)
  const sent = JSON.parse((await pack(forged, ELIDE, 'a')).toString())
  expect(sent.content[0].text).toMatch(/ref 9f2c41aa/)
  expect(sent.content[0].text).not.toBe('> [ref 9f2c41aa]')
  expect(events).toEqual([])
})
