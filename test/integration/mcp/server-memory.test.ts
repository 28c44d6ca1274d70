import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import type { EmbeddedService } from '../../../src/service/embedded/embedded.ts'
import { pinsOf } from '../../../src/service/mcp/memory.ts'
import { eventually } from '../../support/eventually.ts'
import { connectLines } from '../../support/mcp/line-client.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'
import { startSmallEmbedded } from '../../support/small-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-server-memory-'))
const base = { data_dir: folder, workers: { count: 1 }, limits: { drain_grace_ms: 0 } }
let service: EmbeddedService
beforeAll(async () => {
  service = await startSmallEmbedded(configSchema.parse(base))
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

const tool = (name: string, description = '') =>
  JSON.stringify({ name, description, inputSchema: { type: 'object' } })

async function upstreamWith(tools: readonly string[]) {
  const upstream = await RecordingUpstream.start({ era: 'legacy' })
  onTestFinished(() => upstream.close())
  upstream.on('tools/list', exchange => exchange.result(`{"tools":[${tools.join(',')}]}`))
  return upstream
}

const namesOf = async (client: Awaited<ReturnType<typeof connectLines>>) => {
  const { result } = await client.request('tools/list')
  return result.tools.map((each: { name: string }) => each.name)
}

/** Files of lists, by which time they are written. */
const keptFiles = () => {
  const at = join(folder, 'mcp-servers')
  return readdirSync(at).map(name => join(at, name))
}

describe('what a server listed the last time', () => {
  it('is offered while it does not answer, to its credential alone', async () => {
    const upstream = await upstreamWith([tool('kept')])
    const { url } = upstream
    const auth = (token: string) => ({ kind: 'headers', headers: { Authorization: token } })
    const servers = { memo: { url, auth: auth('secret-one') } }
    const first = await connectLines({ service, base, servers })
    expect(await namesOf(first)).toEqual(['kept'])
    await eventually(() => {
      const texts = keptFiles().map(file => readFileSync(file, 'utf8'))
      expect(texts.join()).toContain('kept')
      expect(texts.join()).not.toContain('secret-one')
    })
    for (const file of keptFiles()) expect(statSync(file).mode & 0o077).toBe(0)
    await upstream.close()
    expect(await namesOf(await connectLines({ service, base, servers }))).toEqual(['kept'])
    const others = { memo: { url, auth: auth('secret-two') } }
    expect(await namesOf(await connectLines({ service, base, servers: others }))).toEqual([])
  })
})

describe('a tool whose definition changed', () => {
  it('is withheld until it is accepted, if it is pinned', async () => {
    const tools = [tool('same'), tool('moved', 'reads')]
    const upstream = await upstreamWith(tools)
    const servers = { pinned: { url: upstream.url, pin: true }, free: { url: upstream.url } }
    const all = ['free__moved', 'free__same', 'pinned__moved', 'pinned__same']
    expect(await namesOf(await connectLines({ service, base, servers }))).toEqual(all)
    tools[1] = tool('moved', 'reads, and sends it elsewhere')
    const changed = all.filter(name => name !== 'pinned__moved')
    expect(await namesOf(await connectLines({ service, base, servers }))).toEqual(changed)
    const config = configSchema.parse({ ...base, mcp: { servers } }).mcp.servers['pinned']!
    const pins = pinsOf({ tenant: 'local', name: 'pinned', config }, folder)
    const entries = tools.map(raw => ({ key: JSON.parse(raw).name, raw: Buffer.from(raw) }))
    expect(pins.accept(entries)).toEqual(['moved'])
    expect(await namesOf(await connectLines({ service, base, servers }))).toEqual(all)
  })
})

describe('a list that could not be read', () => {
  it('a list that could not be read is read again', async () => {
    const upstream = await RecordingUpstream.start({ era: 'legacy' })
    onTestFinished(() => upstream.close())
    let fails = 2
    upstream.on('tools/list', exchange => {
      if (fails-- > 0) exchange.result('{"tools":"none"}')
      else exchange.result(`{"tools":[${tool('late')}]}`)
    })
    const client = await connectLines({ service, base, servers: { slow: { url: upstream.url } } })
    await eventually(async () => expect(await namesOf(client)).toEqual(['late']))
    const changes = () => client.lines.filter(line => line.includes('tools/list_changed'))
    await eventually(() => expect(changes()).toHaveLength(1))
  })
})
