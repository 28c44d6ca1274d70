import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { createRewrites } from '../../../src/store/sharing/rewrites.ts'
import type { Store } from '../../../src/store/store.ts'
import {
  exchange,
  expectNothingHeld,
  figure,
  serviceBefore,
} from '../../integration/proxy/watched-service.ts'
import { STORE_THREAD } from '../../integration/service/harness.ts'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'
import { answerOk, recordingUpstream } from '../../integration/service/recording-upstream.ts'
import { eventually } from '../../support/eventually.ts'

const { path, body } = CONVERSATIONS['anthropic']!
type ReadResult = Awaited<ReturnType<Store['readRecord']>>

const CLOSE_BYTES = CONVERSATIONS['anthropic']!.close.length

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-faults-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const databases = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /\.(?:db|sqlite3?)(?:-\w+)?$/.test(name),
  )

/** Holds the write lock, as a backup or a debugger may; what waits for it waits in vain. */
function lock(folder: string): void {
  const [name] = databases(folder).filter(each => !/-\w+$/.test(each))
  const database = new DatabaseSync(join(folder, name!))
  database.exec('BEGIN IMMEDIATE')
  onTestFinished(() => database.close())
}

it.each<[string, string, (folder: string) => void]>([
  [
    'its folder is removed',
    'haversack_store_problems_total{kind="file_replaced"}',
    folder => rmSync(folder, { recursive: true }),
  ],
  [
    'its files are overwritten',
    'haversack_store_problems_total{kind="damaged_file"}',
    folder => {
      for (const name of databases(folder)) writeFileSync(join(folder, name), 'x'.repeat(70_000))
    },
  ],
  ['it is locked by somebody', 'haversack_store_events_total{event="refused"}', lock],
])('turns go on when the store is gone: %s', async (_, seen, spoil) => {
  const upstream = await recordingUpstream()
  onTestFinished(() => upstream.close())
  const data_dir = newFolder()
  const service = await serviceBefore(upstream.url, { data_dir }, STORE_THREAD)
  const sent: string[] = []
  for (const n of [0, 1, 2, 3]) {
    if (n === 2) spoil(data_dir)
    const got = await exchange(service, path, body(n))
    expect(got).toEqual({ status: 200, text: '{"ok": true}', whole: true })
    sent.push(upstream.last().body.toString())
  }
  for (const [n, text] of sent.entries()) {
    expect(text.length).toBeLessThan(body(n).length)
    const before = sent[n - 1]?.slice(0, -CLOSE_BYTES) ?? ''
    expect(text.startsWith(before)).toBe(true)
  }
  await expectNothingHeld(service)
  expect(await figure(service, seen)).toBeGreaterThan(0)
})

it('a client that leaves while its answer waits for the store leaves nothing behind', async () => {
  const upstream = await recordingUpstream()
  onTestFinished(() => upstream.close())
  const begun = Promise.withResolvers<void>()
  upstream.answerWith((response, request) => {
    answerOk(response, request)
    begun.resolve()
  })
  const data_dir = newFolder()
  const service = await serviceBefore(upstream.url, { data_dir }, STORE_THREAD)
  lock(data_dir)
  const controller = new AbortController()
  const answer = await fetch(service.url + path, {
    method: 'POST',
    body: body(1),
    headers: { 'content-type': 'application/json' },
    signal: controller.signal,
  })
  await begun.promise
  controller.abort()
  await expect(answer.text()).rejects.toThrow()
  const aborted = 'haversack_proxy_exchanges_total{vendor="anthropic",outcome="aborted"}'
  await eventually(async () => expect(await figure(service, aborted)).toBe(1))
  await expectNothingHeld(service)
})

it('a store that does not answer is waited for only so long, and asked no more', async () => {
  const reads: ((result: ReadResult) => void)[] = []
  const readRecord = () => new Promise<ReadResult>(resolve => reads.push(resolve))
  const writeRecord = () => new Promise<never>(() => undefined)
  const rewrites = createRewrites({ readRecord, writeRecord }, () => 1_000)
  const records = Array.from({ length: 300 }, (_, n) => ({
    key: String(n),
    bytes: Uint8Array.of(n),
    position: null,
  }))
  const ahead = rewrites.lookAhead!('t')
  ahead.look(['0'])
  const recall = rewrites.decide('t', records, new Map(), undefined, ahead)
  const asked = reads.length
  expect(asked).toBeGreaterThan(1)
  expect((await recall).others).toBe('unheard')
  const [first, ...others] = reads
  first!({ ok: false, reason: 'busy', detail: 'late' })
  for (const answer of others) answer({ ok: false, reason: 'not_found', detail: 'late' })
  await turn()
  expect(reads.length).toBe(asked)
  expect(asked).toBeLessThan(records.length)
  expect(await rewrites.record('t', records.slice(0, 1))).toEqual(new Map())
})
