import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startSmallService } from '../../integration/service/harness.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import { type ScriptedVendor, startScriptedVendor } from '../../support/scripted-vendor.ts'

const TOOL = 'haversack_retrieve'

let redis: RedisProcess
let vendor: ScriptedVendor
const replicas: Awaited<ReturnType<typeof startReplica>>[] = []

const startReplica = () =>
  startSmallService({
    workers: { count: 1 },
    store: { redis: { url: redis.url } },
    proxy: { redeem: 'auto', anthropic_url: vendor.url },
  })

beforeAll(async () => {
  redis = await startRedis()
  vendor = await startScriptedVendor('anthropic')
  for (let count = 0; count < 2; count++) replicas.push(await startReplica())
})

afterAll(async () => {
  for (const replica of replicas) await replica.close()
  await vendor.close()
  await redis.stop()
})

it('what one replica hid from a client is put back by another', async () => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look.' }]
  const input_schema = { type: 'object' as const }
  const ask = async (replica: number) => {
    const baseURL = `${replicas[replica]!.url}/anthropic`
    const client = new Anthropic({ apiKey: 'k', baseURL, maxRetries: 0 })
    const tools = [{ name: 'search', input_schema }]
    const request = { model: 'claude-sonnet-4-5', max_tokens: 9, messages, tools }
    const { content } = await client.messages.stream(request).finalMessage()
    messages.push({ role: 'assistant', content })
    return content
  }
  const own = (id: string) => ({ call: TOOL, id, input: { hash: 'f'.repeat(24) } })
  vendor.script(
    [{ text: 'I look.' }, own('c1')],
    [{ call: 'search', id: 'c2', input: {} }, own('c3')],
    [{ text: 'Found.' }],
    [{ text: 'Done.' }],
  )
  expect((await ask(0)).map(({ type }) => type)).toEqual(['text', 'tool_use'])
  messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c2' }] })
  await ask(1)
  messages.push({ role: 'user', content: 'And?' })
  await ask(0)
  const sent = vendor.received.map(({ body }) => body['messages'] as object[])
  expect(sent.map(({ length }) => length)).toEqual([1, 3, 5, 7])
  for (const [turn, list] of sent.entries()) {
    if (turn > 0) expect(list.slice(0, sent[turn - 1]!.length)).toEqual(sent[turn - 1])
  }
})
