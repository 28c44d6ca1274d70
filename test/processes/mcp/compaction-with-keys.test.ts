import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { STORE_THREAD, startSmallService } from '../../integration/service/harness.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { RawHttpClient } from '../../support/mcp/http-client.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'

const PAGE = Array.from({ length: 60 }, (_, i) => `line ${i} has ${i * 7919};`).join('\n')
const REFERENCE = /^> \[ref [0-9a-f]+ mcp__one__echo \d+ calls? ago\]$/

let redis: RedisProcess | undefined
beforeAll(async () => {
  if (process.env['TEST_WITHOUT_REDIS'] !== '1') redis = await startRedis()
})
afterAll(() => redis?.stop())

it.each(['alone', ...(process.env['TEST_WITHOUT_REDIS'] === '1' ? [] : ['on Redis'])])(
  'ends the MCP context of the key that reports its compaction, and no other: %s',
  async where => {
    const folder = mkdtempSync(join(tmpdir(), 'haversack-compaction-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const upstream = await RecordingUpstream.start({ era: 'legacy' })
    onTestFinished(() => upstream.close())
    const answer = JSON.stringify({ content: [{ type: 'text', text: PAGE }] })
    upstream.on('tools/call', exchange => exchange.result(answer))
    const keys = ['one', 'two'].map(() => keyFor('a', { scopes: ['mcp', 'encode', 'retrieve'] }))
    const keys_file = join(folder, 'keys.json')
    writeKeysFile(keys_file, ...keys)
    const store = where === 'alone' ? {} : { store: { redis: { url: redis!.url } } }
    const service = await startSmallService(
      { mcp: { servers: { one: { url: upstream.url } } }, keys_file, ...store },
      STORE_THREAD,
    )
    onTestFinished(() => service.close())

    const clients = keys.map(({ headers }) => new RawHttpClient(`${service.url}/mcp`, headers))
    const texts = () => Promise.all(clients.map(textOf))
    for (const client of clients) await client.initialize()
    expect(await texts()).toEqual([PAGE, PAGE])
    const reference = expect.stringMatching(REFERENCE)
    expect(await texts()).toEqual([reference, reference])
    const compact = (name: string) =>
      fetch(`${service.url}/v1/sessions/${name}/compaction`, {
        method: 'POST',
        headers: keys[0]?.headers ?? {},
      })
    expect((await compact('talk')).status).toBe(200)
    expect(await texts()).toEqual([PAGE, reference])
    expect((await compact('unknown')).status).toBe(404)
    for (const client of clients) await client.delete()
  },
)

async function textOf(client: RawHttpClient): Promise<string> {
  const _meta = { 'haversack/context': 'talk' }
  const { result } = await client.call('tools/call', { name: 'echo', arguments: {}, _meta })
  return result.content[0].text
}
