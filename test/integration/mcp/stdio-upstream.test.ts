import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { UpstreamConnection } from '../../../src/mcp/upstream/connection.ts'
import { eventually } from '../../support/eventually.ts'
import {
  callOf,
  connectTo,
  knownEra,
  rawTarget,
  receivedBy,
  resultOf,
  textOfEnd,
  toolCall,
} from '../../support/mcp/connect.ts'
import { someOf } from '../../support/short-runs.ts'

describe.each(someOf(['legacy', 'modern'] as const, 1))('a %s server over stdio', era => {
  let connection: UpstreamConnection
  let events: string[]

  beforeAll(async () => {
    const connected = connectTo(rawTarget(era), { verdicts: knownEra(era) })
    connection = connected.connection
    events = connected.events
    await connection.facts()
  })

  afterAll(() => connection.close())

  it('states its facts, as bytes', async () => {
    const facts = await connection.facts()
    expect(facts?.era).toBe(era)
    expect(facts?.protocolVersion).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25')
    expect(String(facts?.capabilities)).toBe('{"tools":{"listChanged":true},"x":1.0}')
    expect(String(facts?.serverInfo)).toBe('{"name":"raw"}')
  })

  it('gets and gives bytes', async () => {
    const params =
      '{ "name":"echo","arguments":{"n":12345678901234567890,"x":1.0,"é":"\\u00e9"},"unknown":[1e2] }'
    const end = await connection.call(callOf('tools/call', params))
    expect(textOfEnd(end)).toMatch(/"big":12345678901234567890,"one":1\.0\}$/)
    const [before, after] = params.split(' }') as [string, string]
    expect(receivedBy(end)).toContain(`"params":${before}`)
    expect(after).toBe('')
    if (era === 'legacy') expect(receivedBy(end)).toContain(`"params":${params}}`)
    else expect(receivedBy(end)).toContain('clientCapabilities":{"sampling":{},"x":1.0}')
  })

  it('is not disturbed by lines that are no messages', async () => {
    const before = connection.counts().torn
    expect(textOfEnd(await connection.call(toolCall('torn')))).toBe('{}')
    expect(connection.counts().torn - before).toBe(4)
  })

  it('answers only with the ids that it got', async () => {
    const before = connection.counts().foreign
    const end = await connection.call(toolCall('foreign'))
    expect(textOfEnd(end)).toBe('{"foreign":false}')
    await eventually(() => expect(connection.counts().foreign - before).toBe(3))
  })

  it('reports progress with the token of the client, and never after the answer', async () => {
    const call = callOf('tools/call', '{"name":"progress","_meta":{"progressToken":1.0e2}}')
    await connection.call(call)
    await connection.call(toolCall('echo'))
    expect(call.notified).toEqual([
      'notifications/progress {"progressToken":1.0e2,"progress":0.50}',
      'notifications/message {"level":"info","data":1.0}',
    ])
    expect(events).toContain('notifications/tools/list_changed {}')
  })

  it('gets no progress token if the client sent none', async () => {
    expect(receivedBy(await connection.call(toolCall('echo')))).not.toContain('progressToken')
  })

  it('has its ping answered', async () => {
    const end = await connection.call(toolCall('ping'))
    expect(receivedBy(end)).toBe('{"jsonrpc":"2.0","id":1e2,"result":{}}')
  })

  it('learns that a call was cancelled; what it answers then is dropped', async () => {
    const controller = new AbortController()
    const before = connection.counts().foreign
    const running = connection.call(toolCall('late', { signal: controller.signal }))
    await connection.call(toolCall('echo'))
    controller.abort('not needed')
    expect(await running).toEqual({ kind: 'aborted' })
    await eventually(() => expect(connection.counts().foreign - before).toBe(1))
    await eventually(() => {
      expect(events.join()).toMatch(/notifications\/cancelled.*"reason\W+not needed/)
    })
  })

  it('cannot hold a call longer than its time', async () => {
    const call = toolCall('hang', { timeoutMs: 1 })
    expect(await connection.call(call)).toEqual({ kind: 'timeout' })
  })

  it('has the end of its standard error kept', async () => {
    await connection.call(toolCall('stderr'))
    await eventually(() => expect(connection.lastErrors()).toMatch(/^e+the end$/))
    expect(connection.lastErrors()).toHaveLength(4096)
  })
})

describe('a legacy server over stdio', () => {
  it('asks the newest call', async () => {
    const { connection } = connectTo(rawTarget('legacy'), { verdicts: knownEra('legacy') })
    const older = connection.call(toolCall('hang'))
    const asked: string[] = []
    const end = await connection.call(
      toolCall('ask', {
        ask: (method, params) => {
          asked.push(`${method} ${params}`)
          return Promise.resolve(resultOf('{"role":"assistant","x":1.0}'))
        },
      }),
    )
    expect(asked).toEqual(['sampling/createMessage {"n":1.0}'])
    expect(receivedBy(end)).toBe(
      '{"jsonrpc":"2.0","id":"s-1","result":{"role":"assistant","x":1.0}}',
    )
    await connection.close()
    expect(await older).toEqual({ kind: 'lost', hasRun: 'maybe' })
  })

  it('gets a minimal environment, and what is configured', async () => {
    const target = { ...rawTarget('legacy', { CONFIGURED: 'yes' }), cwd: '/' }
    const processEnvironment = { ...process.env, SECRET: 'no' }
    const { connection } = connectTo(
      { ...target, processEnvironment } as ReturnType<typeof rawTarget>,
      { verdicts: knownEra('legacy') },
    )
    const end = await connection.call(toolCall('environment'))
    const { env, cwd } = JSON.parse(textOfEnd(end) as string)
    expect(cwd).toBe('/')
    expect(env).toMatchObject({ CONFIGURED: 'yes', PATH: process.env['PATH'] })
    const allowed = ['PATH', 'HOME', 'USER', 'LANG', 'TMPDIR', 'CONFIGURED', 'UPSTREAM_ERA']
    expect(Object.keys(env).filter(name => !allowed.includes(name))).toEqual([])
    await connection.close()
  })
})

describe('the era of a server over stdio', () => {
  it.each([
    ['legacy', 'legacy'],
    ['exits', 'legacy'],
    ['modern', 'modern'],
  ])('of a server that is %s is found to be %s, and kept', async (behaviour, era) => {
    const verdicts = new Map()
    const { connection, events } = connectTo(rawTarget(behaviour), { verdicts })
    expect((await connection.facts())?.era).toBe(era)
    expect(verdicts.get('test').era).toBe(era)
    expect(events[0]).toBe(`connected ${era}`)
    await connection.close()
  })

  it('is legacy if a probe is not answered', async () => {
    const { connection } = connectTo(rawTarget('silent'), { limits: { probeMs: 300 } })
    expect((await connection.facts())?.era).toBe('legacy')
    await connection.close()
  })

  it('is asked again if the server was replaced', async () => {
    const verdicts = knownEra('legacy')
    const { connection, events } = connectTo(rawTarget('modern'), { verdicts })
    expect((await connection.facts())?.era).toBe('modern')
    expect(verdicts.get('test')?.era).toBe('modern')
    await eventually(() => expect(events.join()).toContain('tools/list_changed'))
    await connection.close()
  })
})
