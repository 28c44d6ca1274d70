import { hash, randomBytes } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { KeepItem } from '../../../src/core/contract/operation-result.ts'
import type { ByteOperation } from '../../../src/core/operations/operation.ts'
import { OPERATIONS } from '../../../src/core/operations/registry.ts'
import { createSharedSessions } from '../../../src/core/sessions/turn/shared-sessions.ts'
import { toResult } from '../../../src/pool/entry.ts'
import type { Job } from '../../../src/pool/job.ts'
import type { WorkerSetup } from '../../../workers/protocol.ts'
import { bytesOf, header, inlineRunner, workerSetup } from '../../support/runner.ts'

const sizes = { fromBytes: 512, toBytes: 4096 }
const media_type = 'text/plain'
const repeated = (bytes: number) => ({ bytes: Buffer.alloc(bytes, 'a line of text\n'), media_type })
const JOB = { op: 'op', requestId: '1' } as unknown as Job

/** What the main thread gets of texts to keep, through a thread. */
function kept(keep: readonly KeepItem[], setup: Partial<WorkerSetup>) {
  const none = { reports: [], records: [], markers: [] }
  const op: ByteOperation = {
    kind: 'bytes',
    name: 'op',
    run: body => ({ bytes: body, ...none, keep }),
  }
  const body = bytesOf('what came')
  const run = inlineRunner({ op }, { ...workerSetup(), ...setup })
  const { outcomes, body: packed } = run({ jobs: [header('op', body)], body: body.buffer, slot: 0 })
  const bytes = new Uint8Array(packed)
  const end = { kind: 'outcome', outcome: outcomes[0]!, bytes, isAlone: true } as const
  const result = toResult(JOB, { ...end, queuedAt: 0, startedAt: 0 }, { onBug: () => {} })
  if (!result.ok) throw new Error('the job failed')
  expect(Buffer.from(result.body).toString()).toBe('what came')
  return result.keep
}

describe('a thread compresses texts for a store of the main thread', () => {
  it('of the sizes that the store compresses, and if they become smaller', () => {
    const noise = { bytes: randomBytes(2000), media_type }
    const texts = [repeated(511), repeated(512), repeated(4096), repeated(4097), noise]
    const items = kept(texts, { compressed: sizes })
    expect(items.map(({ compressed }) => compressed !== undefined)).toEqual([
      ...[false, true, true, false, false],
    ])
    for (const [i, { bytes, compressed }] of items.entries()) {
      expect(Buffer.compare(bytes, texts[i]!.bytes)).toBe(0)
      if (compressed === undefined) continue
      expect(compressed.length).toBeLessThan(bytes.length)
      expect(Buffer.compare(zstdDecompressSync(compressed), texts[i]!.bytes)).toBe(0)
    }
  })

  it('but not for a store that has a thread of its own, or does not compress', () => {
    expect(kept([repeated(2000)], {})[0]).not.toHaveProperty('compressed')
    const own = { compressed: sizes, asked: { sessions: false } }
    expect(kept([repeated(2000)], own)[0]).not.toHaveProperty('compressed')
  })
})

describe('the identity of a result that is kept', () => {
  const shared = createSharedSessions({ maxSessions: 8, maxEntries: 64, seeds: [1, 2] }, 1 << 20)
  const setup = { ...workerSetup(), asked: { sessions: false }, sessions: shared }
  const run = inlineRunner(OPERATIONS, setup)
  const line = 'a line of a result that is long enough to be kept\n'

  /** What an encode keeps: of each text its identity, and the hash of its bytes. */
  function keptBy(content: string) {
    const body = bytesOf(JSON.stringify({ content, session: 's', tool_call_id: content.slice(-9) }))
    const message = { jobs: [header('encode', body)], body: body.buffer, slot: 0 }
    const { outcomes, body: packed } = run(message)
    const [outcome] = outcomes
    if (outcome?.kind !== 'done') throw new Error('the job failed')
    return outcome.keep.map(({ start, length, ticket }) => {
      return [ticket?.identity, hash('sha256', new Uint8Array(packed, start, length))]
    })
  }

  it('is the hash under which it is stored', () => {
    for (const text of [line.repeat(40), `${line.repeat(40)}ü€🎒`]) {
      const kept = keptBy(text)
      expect(kept).toHaveLength(1)
      expect(kept[0]![0]).toBe(kept[0]![1])
    }
  })

  it('does not exist for a text that UTF-8 lacks, which is not kept', () => {
    expect(keptBy(`${line.repeat(40)}\ud800`)).toEqual([])
  })
})
