import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SavingsAnswer } from '../../../src/core/contract/savings.ts'
import { encode } from '../../../src/index.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'

let redis: RedisProcess
let vendor: RecordingUpstream
const replicas: Awaited<ReturnType<typeof startReplica>>[] = []

const startReplica = () =>
  startSmallService({
    workers: { count: 1 },
    store: { redis: { url: redis.url } },
    proxy: { anthropic_url: vendor.url },
  })

beforeAll(async () => {
  redis = await startRedis()
  vendor = await recordingUpstream()
  vendor.answerWith(response => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const usage = { input_tokens: 500, output_tokens: 0 }
    response.end(JSON.stringify({ type: 'message', model: 'claude-sonnet-4-5', usage }))
  })
  replicas.push(...(await Promise.all([1, 2, 3].map(startReplica))))
})

afterAll(async () => {
  await Promise.all(replicas.map(replica => replica.close()))
  await vendor.close()
  await redis.stop()
})

const boats = (at: number) =>
  JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, boat: at, state: 'at sea' })))

/** A conversation with so many results of a tool, as it is sent with the last of them. */
function turn(results: number): string {
  const messages = Array.from({ length: results }, (_, at) => {
    const id = `call_${at}`
    const call = { type: 'tool_use', id, name: 'list_boats', input: { at } }
    return [
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: boats(at) }] },
    ]
  })
  const question = { role: 'user', content: 'Which boats are there?' }
  const all = [question, ...messages.flat()]
  return JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 9, messages: all })
}

it('a result that three replicas see, one of them after a restart, is counted once', async () => {
  const RESULTS = 9
  for (let results = 1; results <= RESULTS; results++) {
    const at = results % replicas.length
    if (results === 6) {
      await replicas[at]!.close()
      replicas[at] = await startReplica()
    }
    expect((await replicas[at]!.post('/anthropic/v1/messages', turn(results))).status).toBe(200)
  }
  // What a replica counted is written at the latest when it ends.
  await Promise.all(replicas.splice(0).map(replica => replica.close()))
  const last = await startReplica()
  replicas.push(last)
  const { vendors } = (await (await fetch(`${last.url}/v1/savings`)).json()) as SavingsAnswer
  const { requests, results } = vendors.anthropic!.figures
  expect([requests.count, results.count]).toEqual([RESULTS, RESULTS])
  const { tokens } = encode({ content: boats(0), tool: 'list_boats' })
  expect(results).toMatchObject({
    before: RESULTS * tokens.baseline,
    after: RESULTS * tokens.final,
  })
})
