import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import {
  exchange,
  expectNothingHeld,
  figure,
  type TestService,
} from '../../integration/proxy/watched-service.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'
import {
  answerOk,
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'

const { path, body } = CONVERSATIONS['anthropic']!
const workerUrl = new URL(
  '../../integration/service/worker-with-rewrite-faults.ts',
  import.meta.url,
)
const FAILED = 'haversack_proxy_untouched_total{vendor="anthropic",reason="failed"}'

let upstream: RecordingUpstream
let service: TestService

beforeAll(async () => {
  upstream = await recordingUpstream()
  // Everything but rewriting may take as long as it does by default.
  const proxy = { anthropic_url: upstream.url, rewrite_timeout_ms: 300 }
  service = await startSmallService({ workers: { count: 1 }, proxy }, { workerUrl })
})
beforeEach(() => upstream.answerWith(answerOk))
afterAll(async () => {
  await service.close()
  await upstream.close()
})

const stuck = (turn: number) => body(turn).replace('claude-sonnet-4', 'fault-hang')

it('a thread that does not come back is waited for no longer than rewriting may take', async () => {
  expect(await exchange(service, path, stuck(1))).toMatchObject({ status: 200, whole: true })
  expect(upstream.last().body.toString()).toBe(stuck(1))
  expect(await figure(service, FAILED)).toBe(1)
  // It was replaced in one pass or both, long before other jobs would be stopped.
  const lost = 'haversack_threads_lost_total{reason="timeout"}'
  await expect.poll(() => figure(service, lost)).toBeGreaterThan(0)
  // A result for which there was no time stays as it was, so each try brings another one.
  let tries = 0
  await expect
    .poll(async () => {
      const sent = body(++tries)
      await exchange(service, path, sent)
      return upstream.last().body.length - Buffer.byteLength(sent)
    })
    .toBeLessThan(0)
  await expectNothingHeld(service)
})

it('nor is it by those that wait behind it', async () => {
  const failed = await figure(service, FAILED)
  const hanging = [stuck(1), stuck(2), stuck(3)]
  const turns = [...hanging, body(4)]
  const answers = await Promise.all(turns.map(turn => exchange(service, path, turn)))
  for (const answer of answers) expect(answer).toMatchObject({ status: 200, whole: true })
  const forwarded = upstream.requests.map(request => request.body.toString())
  expect(forwarded).toHaveLength(4)
  expect(forwarded).toEqual(expect.arrayContaining(hanging))
  // The last one may get its turn in time.
  const untouched = forwarded.filter(text => turns.includes(text)).length
  expect(await figure(service, FAILED)).toBe(failed + untouched)
  await expectNothingHeld(service)
})
