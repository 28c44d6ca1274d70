import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OperationContext } from '../../src/core/operations/operation.ts'
import { BYTE_OPERATIONS, OPERATIONS, type Operations } from '../../src/core/operations/registry.ts'
import type { createBpeCounter } from '../../src/core/tokens/bpe-counter.ts'
import type { JobOutcome } from '../../workers/protocol.ts'
import { bytesOf, header, inlineRunner, workerSetup } from '../support/runner.ts'

type Statistics = ReturnType<ReturnType<typeof createBpeCounter>['statistics']>

/** A worker thread, and the work that a job of a tenant has caused in it. */
function startThread() {
  let context: OperationContext | undefined
  const look = {
    name: 'look',
    request: z.object({}),
    answer: z.object({}),
    run: (_: unknown, given: OperationContext) => {
      context = given
      return { answer: {}, reports: [] }
    },
  }
  const operations = { ...OPERATIONS, ...BYTE_OPERATIONS, look } as unknown as Operations
  const setup = workerSetup()
  // Counters of its own: nothing is counted yet.
  const run = inlineRunner(operations, { ...setup, vocabularies: { ...setup.vocabularies } })
  const job = (op: string, tenant: string, body: string): JobOutcome => {
    const bytes = bytesOf(body)
    const jobs = [header(op, bytes, { tenant })]
    const [outcome] = run({ jobs, body: bytes.buffer, slot: 0 }).outcomes
    if (outcome?.kind !== 'done') throw new Error(JSON.stringify(outcome))
    return outcome
  }
  const missesSoFar = (tenant: string) => {
    job('look', tenant, '{}')
    const counter = context!.counters.get('o200k_base') as unknown as { statistics(): Statistics }
    return counter.statistics().misses
  }
  return {
    job,
    /** Pieces of texts that had to be counted. */
    misses(op: string, tenant: string, body: string): number {
      const before = missesSoFar(tenant)
      job(op, tenant, body)
      return missesSoFar(tenant) - before
    },
    /** Names of results that are known from an earlier turn. */
    knownKeys(tenant: string, body: string): number {
      job('look', tenant, '{}')
      const { turns } = context!.rewrites!
      const limits = { maxBytes: 1e7, maxDepth: 64, maxValues: 1e6 }
      const scanned = turns!.scan(bytesOf(body), 'anthropic_messages', limits)!
      // Names depend on the tenant, which the memory compares as `terms`.
      const terms = JSON.stringify([tenant, 'm', false, false])
      return turns!.knownKeys(scanned, terms).length
    },
  }
}

const rows = (salt: string) =>
  JSON.stringify(
    Array.from({ length: 60 }, (_, id) => ({ id, name: `n${salt}${id * 7919}`, ok: true })),
    null,
    2,
  )

function conversation(salt: string, results: number): string {
  const messages = Array.from({ length: results }, (_, n) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name: 'list', input: { n } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: rows(`${salt}${n}`) }],
    },
  ])
  // What a list of tools takes is counted once; another tenant's list must not save that.
  const tools = [{ name: 'list', description: rows(salt), input_schema: { type: 'object' } }]
  return JSON.stringify({ model: 'm', tools, messages: messages.flat() })
}

const encode = (salt: string) => JSON.stringify({ content: rows(salt) })

describe("a tenant's job in a thread that has done others' jobs", () => {
  // What was sent once is known to this process: each thread gets texts of its own, of as many
  // pieces.
  it.each<[op: string, body: (salt: string) => string, before: (salt: string) => string]>([
    ['encode', encode, encode],
    ['rewrite_anthropic_messages', salt => conversation(salt, 3), salt => conversation(salt, 3)],
    ['rewrite_anthropic_messages', salt => conversation(salt, 3), salt => conversation(salt, 2)],
  ])('%s: costs the same for what another has sent as for what nobody has', (op, body, before) => {
    const work = [
      { salt: 'k', sent: 'k' },
      { salt: 'w', sent: 'y' },
    ].map(({ salt, sent }) => {
      const thread = startThread()
      thread.misses(op, 'a', before(sent))
      return thread.misses(op, 'b', body(salt))
    })
    expect(work[0]).toBeGreaterThan(0)
    expect(work[0]).toBe(work[1])
    const thread = startThread()
    const first = thread.misses(op, 'a', body('v'))
    expect(thread.misses(op, 'a', body('v'))).toBeLessThan(first)
  })

  it("knows none of another's turns", () => {
    const thread = startThread()
    const body = conversation('x', 3)
    thread.job('rewrite_anthropic_messages', 'a', body)
    expect(thread.knownKeys('a', body)).toBe(3)
    expect(thread.knownKeys('b', body)).toBe(0)
  })
})
