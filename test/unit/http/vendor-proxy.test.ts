import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { createAccess } from '../../../src/access/access.ts'
import type { FreshRecord } from '../../../src/core/contract/operation-result.ts'
import { attachRewriteMemory } from '../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { BYTE_OPERATIONS } from '../../../src/core/operations/registry.ts'
import { createBodyMemory } from '../../../src/core/sessions/lines/memory-layout.ts'
import type { Rewriting } from '../../../src/http/context.ts'
import type { VendorProxy } from '../../../src/http/proxy/vendor-proxies.ts'
import { WorkerPool } from '../../../src/pool/pool.ts'
import { createProgress } from '../../../src/pool/slots.ts'
import type { Exchange, ForwardOptions } from '../../../src/proxy/exchange.ts'
import type { OnRecord, RecordedBefore } from '../../../src/store/sharing/rewrites.ts'
import { testApp } from '../../support/app.ts'
import { keyFor } from '../../support/keys.ts'
import { inlineRunner, inlineThreads, workerSetup } from '../../support/runner.ts'

const rows = Array.from({ length: 12 }, (_, id) => ({ id, name: `name ${id}`, ok: true }))
const BODY = JSON.stringify({
  model: 'claude-sonnet-4-5',
  messages: [
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'list', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'c', content: JSON.stringify(rows, null, 2) }],
    },
  ],
})
const ANSWERED: Exchange = {
  outcome: 'answered',
  status: 200,
  sent_bytes: 0,
  received_bytes: 0,
  first_byte_ms: 0,
  total_ms: 0,
  retried: false,
  error: null,
}
const setup = workerSetup()

/**
 * The vendor proxy with threads that are none, an upstream that answers at once, and a store of
 * records.
 */
function proxying(rewrites: Partial<Rewriting['rewrites']> = {}) {
  const one = keyFor('one', { scopes: ['proxy'] })
  const two = keyFor('two', { scopes: ['proxy'] })
  const forwarded: ForwardOptions[] = []
  const recalled: (readonly [string, readonly FreshRecord[]])[] = []
  const recorded: (readonly [string, readonly FreshRecord[]])[] = []
  const proxy: VendorProxy = {
    vendor: 'anthropic',
    host: 'api.example',
    prefix: '/anthropic',
    pattern: '/anthropic',
    basePath: '',
    pathAtVendor: path => path,
    forgets: false,
    upstream: { isOurs: false, isBelieved: false },
    forwarder: {
      ask: async () => null,
      async forward(_incoming, _outgoing, options) {
        forwarded.push(options)
        return ANSWERED
      },
      upgrade: async () => ANSWERED,
      drain: () => {},
      close: async () => {},
    },
  }
  const memory = attachRewriteMemory(setup.rewrites!)
  const rewriting: Rewriting = {
    maxBytes: 100_000,
    timeoutMs: 60_000,
    memory,
    generations: { find: async () => null, keep: async () => {} },
    isOn: () => true,
    addsTool: () => false,
    rewrites: {
      async decide(tenant, records, asked) {
        recalled.push([tenant, records])
        const none: OnRecord = { found: {}, differs: false, others: 'left' }
        return (await rewrites.decide?.(tenant, records, asked)) ?? none
      },
      record(tenant, records) {
        recorded.push([tenant, records])
        return rewrites.record?.(tenant, records) ?? Promise.resolve(new Map())
      },
    },
  }
  const pool = new WorkerPool({
    threads: inlineThreads(
      inlineRunner(BYTE_OPERATIONS, { ...setup, rewrites: createBodyMemory({ bytes: 1 << 20 }) }),
    ),
    progress: createProgress(1),
    limits: () => ({ jobTimeoutMs: 60_000, queueTimeoutMs: 60_000, maxWaitMs: 60_000 }),
    onBug: (_, bug) => expect.fail(bug),
    onThreadLost: () => {},
  })
  const { app } = testApp({
    pool,
    rewriting,
    vendorProxies: [proxy],
    access: createAccess([one.record, two.record], () => 0),
  })

  /** Sends the conversation as `tenant`, until it was forwarded. */
  async function send(tenant: 'one' | 'two'): Promise<ForwardOptions> {
    const { headers } = tenant === 'one' ? one : two
    const url = '/anthropic/v1/messages'
    const all = {
      'content-type': 'application/json',
      'content-length': String(BODY.length),
      'x-haversack-key': headers.authorization.slice('Bearer '.length),
    }
    const incoming = Object.assign(Readable.from([Buffer.from(BODY)]), { url, headers: all })
    const before = forwarded.length
    void app.request(
      url,
      { method: 'POST', headers: all },
      {
        incoming: incoming as unknown as IncomingMessage,
        outgoing: {} as ServerResponse,
      },
    )
    await vi.waitFor(() => expect(forwarded.length).toBe(before + 1))
    return forwarded.at(-1)!
  }

  return { send, recalled, recorded }
}

/** Whether a promise is settled by now. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false
  void promise.finally(() => {
    settled = true
  })
  await turn()
  return settled
}

describe('a rewritten request', () => {
  it('holds the end of its answer until it is on record how it was rewritten', async () => {
    const written = Promise.withResolvers<RecordedBefore>()
    const { send } = proxying({ record: () => written.promise })
    const { body, holdEnd } = await send('one')
    expect(body!.length).toBeLessThan(BODY.length)
    expect(holdEnd).toBeInstanceOf(Promise)
    expect(await isSettled(holdEnd!)).toBe(false)
    written.resolve(new Map())
    expect(await isSettled(holdEnd!)).toBe(true)
  })

  it('asks for and writes records as its own tenant', async () => {
    const { send, recalled, recorded } = proxying()
    await send('two')
    expect(recalled.map(([tenant]) => tenant)).toEqual(['two'])
    expect(recorded.map(([tenant, records]) => [tenant, records.length])).toEqual([['two', 2]])
  })

  it('has another name on record than the same request of another tenant', async () => {
    const { send, recorded } = proxying()
    await send('one')
    await send('two')
    const [one, two] = recorded.map(([, [record]]) => record?.key)
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect(two).toMatch(/^[0-9a-f]{64}$/)
    expect(two).not.toBe(one)
  })

  it('is forwarded as the record has it, and written there no second time', async () => {
    const first = proxying()
    const sent = await first.send('one')
    const [[, records]] = first.recorded as [[string, readonly FreshRecord[]]]
    const found = Object.fromEntries(records.map(({ key, bytes }) => [key, bytes]))
    const onRecord: OnRecord = { found, differs: false, others: 'left' }
    const again = proxying({ decide: async () => onRecord })
    expect((await again.send('one')).body).toEqual(sent.body)
    expect(again.recorded).toEqual([])
  })
})
