import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ArmsAnswer } from '../../../src/core/contract/arms.ts'
import { startSmallService } from './harness.ts'
import { type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-arms-'))
const file = join(folder, 'pipeline_config.toml')
let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof start>>

function start(arms: string) {
  writeFileSync(
    file,
    `[elision]\nin_proxies = true\n[endpoint_overrides."*"]\nelision_min_saved_tokens = 0\n[arms]\n${arms}\n`,
  )
  return startSmallService({
    workers: { count: 1 },
    data_dir: folder,
    pipeline_config_file: file,
    proxy: { anthropic_url: upstream.url },
  })
}

beforeAll(async () => {
  upstream = await recordingUpstream()
  service = await start('holdout = 0.5\nexplore = 0.5')
})

afterAll(async () => {
  await service.close()
  await upstream.close()
  rmSync(folder, { recursive: true })
})

const logOf = (seed: number) =>
  Array.from(
    { length: 200 },
    (_, i) => `10:00:${i} worker-${seed} step ${(i * seed * 37) % 991} done`,
  ).join('\n')

function bodyOf(results: readonly string[]): string {
  const messages = results.flatMap((text, i) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name: 'Bash', input: { i } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: text }] },
  ])
  const tools = ['Bash', 'haversack_retrieve'].map(name => ({ name, input_schema: {} }))
  return JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages })
}

/** What arrives at the vendor. */
async function sent(body: string | Buffer, headers: Record<string, string> = {}): Promise<Buffer> {
  const response = await fetch(`${service.url}/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: body as never,
  })
  await response.text()
  return upstream.last().body
}

const isHeldOut = async (session: string) => {
  const body = bodyOf([logOf(100 + Number(session.slice(2)))])
  return (await sent(body, { 'x-haversack-session': session })).equals(Buffer.from(body))
}

async function sessionOf(heldOut: boolean): Promise<string> {
  for (let n = 0; n < 60; n++) if ((await isHeldOut(`s-${n}`)) === heldOut) return `s-${n}`
  throw new Error('no session has that arm')
}

const armsOf = async () => (await (await fetch(`${service.url}/v1/arms`)).json()) as ArmsAnswer

describe('a session that is held out', () => {
  it('may come after one that is not, though they open alike', async () => {
    await sessionOf(false)
    await sessionOf(true)
  })

  it('passes byte for byte in all of its conversations, however they are compressed', async () => {
    const headers = { 'x-haversack-session': await sessionOf(true) }
    for (const results of [[logOf(2)], [logOf(2), logOf(3)], [logOf(4)]]) {
      const body = bodyOf(results)
      expect(await sent(body, headers)).toEqual(Buffer.from(body))
    }
    const packed = gzipSync(bodyOf([logOf(5)]))
    expect(await sent(packed, { ...headers, 'content-encoding': 'gzip' })).toEqual(packed)
  })

  it('is the same whether a header or the body names it', async () => {
    const session = await sessionOf(true)
    const named = {
      ...JSON.parse(bodyOf([logOf(6)])),
      metadata: { user_id: `u_session_${session}` },
    }
    const body = JSON.stringify(named)
    expect(await sent(body)).toEqual(Buffer.from(body))
    const headers = { 'x-claude-code-session-id': session }
    expect(await sent(bodyOf([logOf(7)]), headers)).toEqual(Buffer.from(bodyOf([logOf(7)])))
  })

  it('counts what it would have saved, each result once', async () => {
    await sessionOf(false)
    const headers = { 'x-haversack-session': await sessionOf(true) }
    const heldOut = async () => {
      const { units } = await armsOf()
      return units
    }
    await expect.poll(async () => (await heldOut()).held_out, { timeout: 0 }).toBeGreaterThan(0)
    await sent(bodyOf([logOf(2)]), headers)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toMatch(/haversack_proxy_untouched_total\{.*reason="held_out"\} \d/)
    const { differences } = await heldOut()
    expect(differences.map(({ measure }) => measure)).toContain('saved')
  })
})

describe('a session that is treated', () => {
  it('keeps some results whole, the same in every turn', async () => {
    const headers = { 'x-haversack-session': await sessionOf(false) }
    const results = Array.from({ length: 12 }, (_, n) => logOf(20 + n))
    const textsIn = (body: Buffer): string[] =>
      JSON.parse(body.toString())
        .messages.filter((each: { role: string }) => each.role === 'user')
        .map((each: { content: { content: string }[] }) => each.content[0]!.content)
    const first = textsIn(await sent(bodyOf(results.slice(0, 8)), headers))
    const second = textsIn(await sent(bodyOf(results), headers))
    expect(second.slice(0, 8)).toEqual(first)
    const elided = second.filter(text => /hash=[0-9a-f]{24}/.test(text)).length
    expect(elided).toBeGreaterThan(0)
    expect(elided).toBeLessThan(12)
    const { classes } = await armsOf()
    const [counted] = classes
    expect(counted!.elided.results + counted!.whole.results).toBeGreaterThanOrEqual(12)
  })
})

it('holds after a restart with other shares', async () => {
  const [heldOut, treated] = [await sessionOf(true), await sessionOf(false)]
  await service.close()
  service = await start('holdout = 0')
  expect(await isHeldOut(heldOut)).toBe(true)
  await service.close()
  service = await start('holdout = 1')
  expect(await isHeldOut(treated)).toBe(false)
  expect(await isHeldOut(heldOut)).toBe(true)
})
