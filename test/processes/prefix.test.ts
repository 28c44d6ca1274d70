import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { RouteName } from '../../src/core/dialects/lookup.ts'
import { pipelineSchema } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { startTestService } from '../integration/service/harness.ts'
import { localContext } from '../support/local-context.ts'
import { killProcesses } from '../support/service-process.ts'
import type { Step } from '../support/turns/bodies.ts'
import { createRewriteChecks } from '../support/turns/check-rewrites.ts'
import { type PlayedConversation, startConversation } from '../support/turns/play-conversation.ts'
import { startRecordingVendor } from '../support/turns/recording-vendor.ts'
import { type Services, startServices } from '../support/turns/services.ts'

afterAll(killProcesses)

const ROUTES: readonly RouteName[] = ['anthropic_messages', 'openai_chat', 'openai_responses']

/** Under the second, tables and files are written otherwise, and nothing refers to lines. */
const PIPELINES = [
  '',
  '[mckp]\nformats_enabled = ["json_compact"]\n[templates]\nactive = []\n[hints.types.lines]\nenabled = false\n',
] as const

const rows = (seed: number) =>
  JSON.stringify(
    Array.from({ length: 12 }, (_, i) => ({
      id: seed * 100 + i,
      name: `n${i}`,
      open: i % 3 === 0,
    })),
    null,
    2,
  )
const file = (edits: number) =>
  Array.from(
    { length: 30 },
    (_, i) => `  const line${i} = compute(${i < edits ? 'again' : i})`,
  ).join('\n')

/** A table, a file that is read again and again, something short, and an error. */
const STEPS: readonly Step[] = Array.from({ length: 12 }, (_, n): Step => {
  const tool = n % 2 === 0 ? 'list' : 'Read'
  const text = n % 2 === 0 ? rows(n) : file(n)
  return { tool, args: { page: n }, text: n === 3 ? 'done' : text, isError: n === 5 }
})

const checks = createRewriteChecks(
  localContext(),
  PIPELINES.map(toml => pipelineSchema.parse(parse(toml))),
)

async function vendorOf() {
  const vendor = await startRecordingVendor()
  onTestFinished(() => vendor.close())
  return vendor
}

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-prefix-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** One conversation in each shape, through services that may become others. */
function conversationsThrough(
  vendor: Awaited<ReturnType<typeof vendorOf>>,
  services: Pick<Services, 'url' | 'count'>,
): readonly PlayedConversation[] {
  return ROUTES.map(route => {
    const terms = { model: 'gpt-5', tools: ['list', 'Read'] }
    return startConversation(STEPS, { name: route, route, terms, services, vendor, checks })
  })
}

describe('a conversation that is sent turn by turn', () => {
  it('begins as before, through two processes that are ended, killed and configured anew', async () => {
    const vendor = await vendorOf()
    const folder = folderOf()
    const services = await startServices({
      folder,
      rewriteTimeoutMs: 60_000,
      upstream: vendor.url,
      pipeline: PIPELINES[0],
    })
    const conversations = conversationsThrough(vendor, services)
    const play = (end: number, wanted: 0 | 1) =>
      Promise.all(conversations.map(each => each.play(end, wanted)))

    await play(1, 0)
    await play(2, 1)
    await play(3, 0)
    const killed = services.restart(0, 'SIGKILL', PIPELINES[1])
    await play(5, 1)
    await killed
    // One of the old configuration beside one of the new: what the other sent holds, and the turn
    // again is the turn.
    for (const wanted of [0, 1, 0, 0] as const) await play(6, wanted)
    await play(7, 0)
    await play(8, 1)
    await play(9, 0)
    await services.restart(1, 'SIGTERM', PIPELINES[1])
    await play(10, 1)
    await play(12, 0)
    await play(12, 1)
    await services.look()
    for (const { counts } of conversations) {
      expect(counts).toMatchObject({ turns: 14, changed: 0, results: 12, retriedOtherwise: 0 })
      expect(counts.rewritten).toBeGreaterThan(5)
      expect(counts.decoded).toBeGreaterThan(3)
      expect(counts.tokensSent).toBeLessThan(counts.tokensRaw)
    }
    expect(services.counts).toEqual({
      haversack_proxy_prefix_changes_total: 0,
      haversack_proxy_unrecorded_total: 0,
      haversack_proxy_untouched_total: 0,
    })
    await services.close()
  })

  it('is seen to change where another configuration comes and nothing is on record', async () => {
    const vendor = await vendorOf()
    const start = (pipeline: string) => {
      const pipeline_config_file = join(folderOf(), 'pipeline.toml')
      writeFileSync(pipeline_config_file, pipeline)
      const proxy = { anthropic_url: vendor.url, openai_url: vendor.url }
      return startTestService({ pipeline_config_file, workers: { count: 1 }, proxy })
    }
    let current = await start(PIPELINES[0])
    const conversations = conversationsThrough(vendor, { count: 2, url: async () => current.url })
    for (const each of conversations) await each.play(3, 0)
    await current.close()
    current = await start(PIPELINES[1])
    for (const each of conversations) await each.play(4, 0)
    for (const { counts } of conversations) expect(counts.changed).toBe(1)
    await current.close()
  })

  it('begins as before without a store, in one process, which says so', async () => {
    const vendor = await vendorOf()
    const noFolder = join(folderOf(), 'a-file')
    writeFileSync(noFolder, '')
    const service = await startTestService({
      data_dir: noFolder,
      workers: { count: 2 },
      proxy: { anthropic_url: vendor.url, openai_url: vendor.url },
    })
    onTestFinished(() => service.close())
    const conversations = conversationsThrough(vendor, { count: 2, url: async () => service.url })
    for (let end = 1; end <= 8; end++) {
      await Promise.all(conversations.map(each => each.play(end, 0)))
    }
    for (const { counts } of conversations) {
      expect(counts).toMatchObject({ turns: 8, changed: 0, retried: 0 })
      expect(counts.rewritten).toBeGreaterThan(3)
    }
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    for (const [vendorName, requests] of [
      ['anthropic', 8],
      ['openai', 16],
    ] as const) {
      const name = `haversack_proxy_unrecorded_total{vendor="${vendorName}"}`
      const line = metrics.split('\n').find(each => each.startsWith(name))
      const counted = Number(line?.split(' ').at(-1))
      // Nothing is asked for a short text, nor for results that the other shape has brought.
      expect(counted).toBeGreaterThanOrEqual(7)
      expect(counted).toBeLessThanOrEqual(requests)
    }
  })
})
