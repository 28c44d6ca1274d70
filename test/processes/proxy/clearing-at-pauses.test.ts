import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseHint } from '../../../src/core/hints/hint-line.ts'
import { type ProxiedReplicas, startReplicas } from './proxied-replicas.ts'

const CLEARING = '[clearing]\nenabled = true\n'
const CLOCK = fileURLToPath(new URL('moved-clock.mjs', import.meta.url))
const MINUTE = 60_000

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('two replicas after a pause', () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-clock-'))
  const clock = join(folder, 'clock')
  let replicas: ProxiedReplicas
  let passed = 0

  const wait = (minutes: number) => {
    passed += minutes * MINUTE
    writeFileSync(clock, String(passed))
  }

  beforeAll(async () => {
    wait(0)
    const env = { NODE_OPTIONS: `--import=${CLOCK}`, TEST_CLOCK_FILE: clock }
    replicas = await startReplicas([CLEARING, CLEARING], env)
  })
  afterAll(async () => {
    await replicas.close()
    rmSync(folder, { recursive: true })
  })

  /** Lines that no format makes smaller. */
  const page = (turn: number) =>
    Array.from({ length: 20 }, (_, i) => hash('sha256', `${turn} ${i}`, 'base64url')).join('\n')

  /** A result, or what the user says. */
  type Turn = 'result' | 'user'

  function bodyOf(turns: readonly Turn[]): string {
    const messages = turns.flatMap((turn, at) => {
      const id = `t${at}`
      const input = { file_path: `/src/${at}.ts` }
      const call = { type: 'tool_use', id, name: 'Read', input }
      const result = { type: 'tool_result', tool_use_id: id, content: page(at) }
      const said = [{ type: 'text', text: 'Go on.' }]
      return [
        { role: 'assistant', content: turn === 'user' ? said : [call] },
        { role: 'user', content: turn === 'user' ? said : [result] },
      ]
    })
    const tools = ['Read', 'haversack_retrieve'].map(name => ({ name, input_schema: {} }))
    return JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages })
  }

  interface Message {
    readonly content: readonly { readonly content?: string }[]
  }

  const send = async (at: number, turns: readonly Turn[]) => {
    const body = await replicas.sendThrough(at, bodyOf(turns))
    const { messages } = JSON.parse(body) as { messages: readonly Message[] }
    const texts = messages.flatMap(each => each.content.flatMap(({ content }) => content ?? []))
    return { body, texts, stubs: texts.filter(text => parseHint(text)?.family === 'elision') }
  }

  it('clear the same, and go on with it', async () => {
    const turns: Turn[] = Array.from({ length: 14 }, () => 'result')
    for (let end = 1; end <= turns.length; end++) await send(0, turns.slice(0, end))
    wait(4)
    expect((await send(0, [...turns, 'user'])).stubs.length).toBe(0)
    wait(6)
    turns.push('user', 'user')
    // Only the first replica knows of the pause.
    const first = await send(0, turns)
    expect(first.stubs.length).toBe(6)
    expect((await send(1, turns)).body).toBe(first.body)
    turns.push('result')
    const next = await send(1, turns)
    expect(next.texts.slice(0, -1)).toEqual(first.texts)
    turns.push('user', 'result')
    const last = await send(0, turns)
    expect(last.texts.slice(0, -1)).toEqual(next.texts)
    expect((await send(1, turns)).body).toBe(last.body)

    for (const stub of first.stubs) {
      const [, digest] = /hash=([0-9a-f]{24})/.exec(stub)!
      const answer = await fetch(`${replicas.services[1]!.url}/v1/retrieve/${digest}`)
      const { original_content: original } = (await answer.json()) as { original_content: string }
      expect(hash('sha256', original, 'hex').slice(0, 24)).toBe(digest)
    }
  })

  it('do not clear if the one that would does not know of the pause', async () => {
    const turns: Turn[] = ['user', ...Array.from({ length: 14 }, () => 'result' as const)]
    for (let end = 2; end <= turns.length; end++) await send(0, turns.slice(0, end))
    wait(6)
    turns.push('user')
    const first = await send(1, turns)
    expect(first.stubs.length).toBe(0)
    // The other one knows, but the first one has used the cache.
    expect((await send(0, turns)).body).toBe(first.body)
  })
})
