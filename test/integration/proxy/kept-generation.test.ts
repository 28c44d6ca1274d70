import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import type { ConfigAnswer } from '../../../src/core/contract/config.ts'
import type { ReadingLevel } from '../../../src/core/reading/constructs.ts'
import { eventually } from '../../support/eventually.ts'
import { type Step, turnBody } from '../../support/turns/bodies.ts'
import { ATTEMPT_HEADER, startRecordingVendor } from '../../support/turns/recording-vendor.ts'
import { startSmallService } from '../service/harness.ts'

const AS_JSON = '[mckp]\nformats_enabled = ["json_compact"]\n[templates]\nactive = []\n'
const TOOL = 'mcp__haversack__haversack_retrieve'

/** A table of its own for each conversation and step. */
function stepsOf(conversation: number): readonly Step[] {
  return Array.from({ length: 6 }, (_, n) => {
    const rows = Array.from({ length: 9 }, (_, i) => {
      return { id: i, of: `${conversation}-${n}`, host: `worker-${i * 77}`, ok: true }
    })
    return { tool: 'list', args: { n }, text: JSON.stringify(rows, null, 2), isError: false }
  })
}

/** What a request leaves out, and what its headers ask for. */
interface Asked {
  readonly before?: number
  readonly project?: string
  readonly reading?: ReadingLevel
}

/** A service that is started as often as a test wants, on one data folder. */
async function serviceOn(folder = mkdtempSync(join(tmpdir(), 'haversack-kept-'))) {
  const vendor = await startRecordingVendor()
  const data_dir = join(folder, 'data')
  const overrides = { data_dir, proxy: { anthropic_url: vendor.url }, workers: { count: 1 } }
  mkdirSync(data_dir, { recursive: true })
  let service = await startSmallService(overrides)
  let attempts = 0
  onTestFinished(async () => {
    await service.close()
    await vendor.close()
    rmSync(folder, { recursive: true })
  })
  const load = (more: object = {}) =>
    loadConfig({ env: {}, overrides: { ...overrides, log: { level: 'silent' }, ...more } })

  return {
    reload: (more?: object) => service.reload(() => load(more)),
    async restart() {
      await service.close()
      service = await startSmallService(overrides)
    },
    write(name: string, text: string) {
      mkdirSync(dirname(join(data_dir, name)), { recursive: true })
      writeFileSync(join(data_dir, name), text)
    },
    url: () => service.url,
    post: (path: string, body: object, headers: Record<string, string> = {}) =>
      service.post(path, JSON.stringify(body), headers),
    /** What arrives of a conversation's results up to `end`, without those `before`. */
    async send(
      conversation: number,
      end: number,
      { before = 0, project, reading }: Asked = {},
    ): Promise<readonly string[]> {
      const terms = { model: 'claude-sonnet-4-5', tools: ['list', TOOL] }
      const steps = stepsOf(conversation).slice(before)
      const place = { end: end - before, before: 0 }
      const bytes = turnBody('anthropic_messages', steps, place, terms)
      const attempt = `${++attempts}`
      const headers = {
        [ATTEMPT_HEADER]: attempt,
        ...(project === undefined ? {} : { 'X-Haversack-Project': project }),
        ...(reading === undefined ? {} : { 'X-Haversack-Reading': reading }),
      }
      const response = await service.post('/anthropic/v1/messages', bytes, headers)
      await response.arrayBuffer()
      expect(response.status).toBe(200)
      return resultsIn(vendor.take(attempt)!)
    },
    async isStale() {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      return /^haversack_config_stale 1$/m.test(text)
    },
  }
}

function resultsIn(body: Uint8Array): readonly string[] {
  const { messages } = JSON.parse(Buffer.from(body).toString()) as {
    readonly messages: readonly { readonly content: unknown }[]
  }
  return messages.flatMap(({ content }) =>
    (Array.isArray(content) ? content : []).flatMap((part: Record<string, unknown>) => {
      if (part['type'] !== 'tool_result') return []
      const inner = part['content']
      return typeof inner === 'string' ? inner : (inner as { text: string }[])[0]!.text
    }),
  )
}

const isJson = (text: string | undefined) => text?.startsWith('[{"id":0') === true

describe('a conversation', () => {
  it('keeps the configuration that it began with, and others take the newest', async () => {
    const service = await serviceOn()
    const before = await service.send(1, 2)
    expect(before.map(isJson)).toEqual([false, false])
    service.write('pipeline_config.toml', AS_JSON)
    service.reload()
    let conversation = 2
    await eventually(async () =>
      expect(isJson((await service.send(++conversation, 1))[0])).toBe(true),
    )
    const after = await service.send(1, 3)
    expect(after.slice(0, 2)).toEqual(before)
    expect(after.map(isJson)).toEqual([false, false, false])
    // Its first results are gone after a compaction, so it begins again.
    expect((await service.send(1, 4, { before: 2 })).map(isJson)).toEqual([true, true])
  })

  it('keeps it in another process that never read those files', async () => {
    const service = await serviceOn()
    const before = await service.send(1, 2)
    service.write('tenants/local.toml', AS_JSON)
    await service.restart()
    const after = await service.send(1, 3)
    expect(after.slice(0, 2)).toEqual(before)
    expect(after.map(isJson)).toEqual([false, false, false])
    expect((await service.send(2, 1)).map(isJson)).toEqual([true])
  })

  it('keeps the reading level that its first request asked for, after a restart too', async () => {
    const service = await serviceOn()
    const hasAffix = (text: string | undefined) => text?.includes('worker-*') === true
    const before = await service.send(1, 2, { reading: 'dense' })
    expect(before.map(hasAffix)).toEqual([true, true])
    expect((await service.send(2, 2)).map(hasAffix)).toEqual([false, false])
    service.write('pipeline_config.toml', 'reading = "dense"\n')
    await service.restart()
    const after = await service.send(1, 3, { reading: 'plain' })
    expect(after.slice(0, 2)).toEqual(before)
    expect(after.map(hasAffix)).toEqual([true, true, true])
    expect((await service.send(2, 3, { reading: 'dense' })).map(hasAffix)).toEqual(
      Array(3).fill(false),
    )
    expect((await service.send(3, 1)).map(hasAffix)).toEqual([true])
  })

  it('has the configuration of the project that its request names', async () => {
    const service = await serviceOn()
    service.write('projects/local/json.toml', AS_JSON)
    service.write('projects/other/theirs.toml', AS_JSON)
    await service.restart()
    expect((await service.send(1, 1, { project: 'json' })).map(isJson)).toEqual([true])
    const others = [undefined, 'theirs', 'none', '../local/json', '__proto__', 'constructor']
    for (const [at, project] of others.entries()) {
      const ofProject = project === undefined ? {} : { project }
      expect((await service.send(2 + at, 1, ofProject)).map(isJson)).toEqual([false])
    }
    // It is kept, like any other configuration.
    expect((await service.send(1, 2)).map(isJson)).toEqual([true, true])
    const rows = Array.from({ length: 12 }, (_, id) => ({ id, ok: true }))
    const encode = async (headers: Record<string, string>) => {
      const body = { content: JSON.stringify(rows, null, 2), tool: 'list' }
      const answer = await service.post('/v1/encode', body, headers)
      return ((await answer.json()) as { content: string }).content
    }
    expect(isJson(await encode({ 'X-Haversack-Project': 'json' }))).toBe(true)
    expect(isJson(await encode({}))).toBe(false)
  })

  it('stays what it was while a file is bad', async () => {
    const service = await serviceOn()
    service.write('pipeline_config.toml', AS_JSON)
    service.reload()
    let conversation = 0
    await eventually(async () =>
      expect(isJson((await service.send(++conversation, 1))[0])).toBe(true),
    )
    expect(await service.isStale()).toBe(false)
    service.write('tuned/local.toml', '[dedup]\nlru_size = 3\n')
    service.reload()
    await eventually(async () => expect(await service.isStale()).toBe(true))
    expect(isJson((await service.send(++conversation, 1))[0])).toBe(true)
    service.write('pipeline_config.toml', '[mckp\n')
    service.reload()
    expect(isJson((await service.send(++conversation, 1))[0])).toBe(true)
  })
})

describe('GET /v1/config', () => {
  it('says what is in force, by which line, without the places of files', async () => {
    const service = await serviceOn()
    service.write('tenants/local.toml', '[endpoint_overrides.git_log]\nlru_size = 3\n')
    await service.restart()
    const read = async (query: string) => {
      const response = await fetch(`${service.url()}/v1/config${query}`)
      return [response.status, (await response.json()) as ConfigAnswer] as const
    }
    const [status, all] = await read('')
    expect([status, all]).toMatchObject([200, { faults: [] }])
    expect(all.generation).toMatch(/^[0-9a-f]{16}$/)
    expect(all.keys).toContainEqual({
      key: 'endpoint_overrides.git_log.lru_size',
      value: 3,
      layer: 'tenant',
      file: 'local.toml',
      line: 2,
      losing: [],
    })
    const args = encodeURIComponent('{"command":"git log"}')
    const [, ofCall] = await read(`?tool=Bash&args=${args}`)
    const isSize = ({ key }: { key: string }) => key === 'lru_size'
    expect(ofCall.keys.find(isSize)).toMatchObject({ value: 3, losing: [{ value: 16 }] })
    expect((await read('?args=x'))[0]).toBe(400)
    expect((await read('?tenant=other'))[0]).toBe(400)
    service.write('tenants/local.toml', 'colour = 3\n')
    expect((await read(''))[1]).toEqual({
      generation: all.generation,
      faults: ['local.toml: line 1: colour: colour is no setting'],
      keys: [],
    })
  })
})

describe('while compression is held', () => {
  it('what was sent is repeated, and nothing new is rewritten by any operation', async () => {
    const service = await serviceOn()
    const before = await service.send(1, 2)
    service.reload({ compression: { enabled: 'hold' } })
    const held = await service.send(1, 3)
    expect(held).toEqual([...before, stepsOf(1)[2]!.text])
    const text = stepsOf(3)[0]!.text
    const encode = await (
      await service.post('/v1/encode', { content: text, mode: 'trim', budget_tokens: 20 })
    ).json()
    expect(encode).toMatchObject({ content: text, layer: 'L3', lossless: true })
    const session = { session: 's', content: text }
    for (let i = 0; i < 2; i++) {
      const dedup = await (await service.post('/v1/dedup', session)).json()
      expect(dedup).toEqual({ kind: 'none', partition: 0 })
    }
    const batch = await (
      await service.post('/v1/batch', { jobs: [{ op: 'encode', content: text }] })
    ).json()
    expect(JSON.stringify(batch)).toContain(JSON.stringify(text))
    const messages = [{ role: 'tool', tool_call_id: 'a', content: text }]
    const compressed = await (
      await service.post('/v1/compress', { messages, model: 'gpt-5' })
    ).json()
    expect(compressed).toMatchObject({ messages })
    // What was sent meanwhile stays as it is.
    service.reload()
    const resumed = await service.send(1, 4)
    expect(resumed.slice(0, 3)).toEqual(held)
    expect(resumed[3]).not.toBe(stepsOf(1)[3]!.text)
  })

  it('or off, one tenant is alone with it', async () => {
    const service = await serviceOn()
    const texts = stepsOf(1).map(({ text }) => text)
    service.reload({ compression: { tenants: { local: { enabled: false } } } })
    expect(await service.send(1, 2)).toEqual(texts.slice(0, 2))
    service.reload({ compression: { enabled: false, tenants: { local: { enabled: true } } } })
    expect(await service.send(2, 1)).not.toEqual([stepsOf(2)[0]!.text])
    service.reload({ compression: { tenants: { other: { enabled: false } } } })
    expect(await service.send(3, 1)).not.toEqual([stepsOf(3)[0]!.text])
  })
})
