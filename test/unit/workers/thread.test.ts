import { describe, expect, it } from 'vitest'
import { readMarks } from '../../../src/core/base/thread-marks.ts'
import { mayTerminate, resetProtection, unbroken } from '../../../src/core/base/unbroken.ts'
import type { ByteOperation } from '../../../src/core/operations/operation.ts'
import type { KeysAhead } from '../../../workers/protocol.ts'
import { createRunner } from '../../../workers/thread.ts'
import { header, inlineRunner, workerSetup } from '../../support/runner.ts'

const SIZE = 100_000
const NOTHING = { reports: [], keep: [], records: [], markers: [] }

/** An operation that answers what `give` makes of a body. */
function operation(give: (body: Uint8Array) => Uint8Array): ByteOperation {
  return { kind: 'bytes', name: 'op', run: body => ({ bytes: give(body), ...NOTHING }) }
}

function run(give: (body: Uint8Array) => Uint8Array) {
  const body = new Uint8Array(SIZE).fill(1)
  const runBatch = inlineRunner({ op: operation(give) })
  return runBatch({ jobs: [header('op', body)], body: body.buffer, slot: 0 })
}

describe('a thread', () => {
  it('answers all of a large answer, and frees what the operation made', () => {
    const made = new Uint8Array(SIZE).fill(2)
    const { outcomes, body } = run(() => made)
    expect(outcomes[0]).toMatchObject({ kind: 'done', start: 0, length: SIZE })
    expect(new Uint8Array(body, 0, SIZE).every(byte => byte === 2)).toBe(true)
    expect(made.length).toBe(0)
  })

  it('does not free what came, which it may remember', () => {
    let came = new Uint8Array(0)
    const { outcomes } = run(body => {
      came = body as Uint8Array<ArrayBuffer>
      return body
    })
    expect(outcomes[0]).toMatchObject({ length: SIZE })
    expect(came.length).toBe(SIZE)
  })

  it.each([
    ['while it runs', false, [{ slot: 7, job: 1, keysAhead: ['k'] }]],
    ['never if processes share the store', true, []],
  ])('tells of decisions that a job is about to make: %s', (_, sessions, expected) => {
    const told: KeysAhead[] = []
    let toldWhileItRan = 0
    const op: ByteOperation = {
      ...operation(body => body),
      run(body, { rewrites }) {
        if (body[0] === 2) rewrites?.ahead?.(['k'])
        toldWhileItRan = told.length
        return { bytes: body, ...NOTHING }
      },
    }
    const setup = { ...workerSetup(), asked: { sessions } }
    const runBatch = createRunner({ op }, setup, { tell: ahead => void told.push(ahead) })
    const body = Uint8Array.of(1, 2)
    const jobs = [0, 1].map(start => header('op', body.subarray(0, 1), { start }))
    runBatch({ jobs, body: body.buffer, slot: 7 })
    expect([told, toldWhileItRan]).toEqual([expected, expected.length])
  })

  it('is not terminated in unbroken work of its batch', () => {
    const setup = workerSetup()
    const { protections } = readMarks(setup.progress)
    const slot = 3
    let mayEnd: boolean | undefined
    const op = operation(body => {
      mayEnd = unbroken(() => mayTerminate(protections, slot))
      return body
    })
    const body = new Uint8Array(1)
    inlineRunner({ op }, setup)({ jobs: [header('op', body)], body: body.buffer, slot })
    expect(mayEnd).toBe(false)
    expect(mayTerminate(protections, slot)).toBe(true)
    resetProtection(protections, slot)
  })
})
