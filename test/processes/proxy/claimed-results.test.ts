import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ELIDING_PROXIES_FILE } from '../../support/any-saving.ts'
import { type ProxiedReplicas, startReplicas } from './proxied-replicas.ts'

const OWN_CALLS = /_(?:note_contact|note_process|lease_rate|sweep|stats|read_record|write_record)$/

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('proxied turns on one Redis', () => {
  /** It would write results otherwise than the others do. */
  const otherwise = '[mckp]\nformats_enabled = ["ndjson"]\n[elision]\nenabled = false\n'
  const eliding = readFileSync(ELIDING_PROXIES_FILE, 'utf8')
  let replicas: ProxiedReplicas

  beforeAll(async () => {
    replicas = await startReplicas([eliding, eliding, otherwise])
    const setting = ['slowlog-log-slower-than', '0', 'slowlog-max-len', '10000']
    await replicas.redis.ask('CONFIG', 'SET', ...setting)
  })
  afterAll(() => replicas.close())

  /** A conversation with `turns` results of its own, each with parts that can be left out. */
  function bodyOf(name: string, turns: number): string {
    const messages = Array.from({ length: turns }, (_, turn) => {
      const lines = Array.from({ length: 400 }, (_, i) => {
        return `2026-03-01T10:00:00Z INFO ${hash('md5', `${name} ${turn} ${i}`)} took ${i} ms`
      })
      const content = turn % 2 === 0 ? lines.join('\n') : JSON.stringify(lines, null, 2)
      const call = {
        type: 'tool_use',
        id: `t${turn}`,
        name: 'Bash',
        input: { command: `c${turn}` },
      }
      return [
        { role: 'assistant', content: [call] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content }] },
      ]
    }).flat()
    const tools = ['Bash', 'headroom_retrieve'].map(each => ({ name: each, input_schema: {} }))
    return JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages })
  }

  const sentThrough = (at: number, name: string, turns: number) =>
    replicas.sendThrough(at, bodyOf(name, turns))

  /** The calls that the server has had for requests since the last time. */
  async function callsOf(): Promise<number> {
    const log = (await replicas.redis.ask(
      'SLOWLOG',
      'GET',
      '-1',
    )) as (readonly (readonly string[])[])[]
    await replicas.redis.ask('SLOWLOG', 'RESET')
    const names = log.flatMap(entry => {
      const [verb = '', name = ''] = entry[3] as readonly string[]
      return verb.startsWith('FCALL') && !OWN_CALLS.test(name) ? [name] : []
    })
    return names.length
  }

  /** All but what follows the messages. */
  const prefixOf = (body: string) => body.slice(0, body.lastIndexOf(']}'))

  it('take one call with a new result, also where parts of it are kept, and none without', async () => {
    await sentThrough(0, 'warm', 2)
    await callsOf()
    for (const turns of [1, 2, 3, 4]) {
      const first = await sentThrough(0, 'stays', turns)
      expect(first.includes('hash=')).toBe(true)
      expect(await callsOf()).toBe(1)
      expect((await sentThrough(0, 'stays', turns)) === first).toBe(true)
      expect(await callsOf()).toBe(0)
    }
  })

  it('take one call if another replica had the turn before, and begin as they did', async () => {
    await sentThrough(1, 'warm', 2)
    let before = await sentThrough(0, 'moves', 1)
    for (const turns of [2, 3, 4]) {
      await callsOf()
      const now = await sentThrough(turns % 2, 'moves', turns)
      expect(now.startsWith(prefixOf(before))).toBe(true)
      expect(await callsOf()).toBe(1)
      before = now
    }
  })

  it('begin in one way, if two replicas with other configurations send a turn at the same time', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `at once ${i}`)
    const both = (turns: number) =>
      Promise.all(names.map(name => Promise.all([0, 2].map(at => sentThrough(at, name, turns)))))
    const alone = await Promise.all([0, 2].map(at => sentThrough(at, `alone ${at}`, 2)))
    expect(alone[1]!.length).not.toBe(alone[0]!.length)
    for (const [one, two] of await both(2)) expect(two === one).toBe(true)
    for (const [one, two] of await both(3)) expect(two === one).toBe(true)
  })
})
