import { describe, expect, it } from 'vitest'
import { ChildPlaces } from '../../../../src/mcp/upstream/child-places.ts'
import type {
  ConnectionListener,
  Era,
  ServerFacts,
  UpstreamCall,
  UpstreamConnection,
} from '../../../../src/mcp/upstream/connection.ts'
import { SharedConnections } from '../../../../src/mcp/upstream/shared-connections.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

const EMPTY = Buffer.from('{}')
const claims = (capabilities = '{}') => ({
  capabilities: Buffer.from(capabilities),
  clientInfo: Buffer.from('{"name":"x","version":"1"}'),
})
const call = (method: string, params = '{}'): UpstreamCall => ({
  ...{ method, params: Buffer.from(params), timeoutMs: 1_000, canRepeat: false },
  signal: new AbortController().signal,
  notify: () => {},
  ask: async () => ({ kind: 'result', result: EMPTY }),
})

/** Connections without a server, which are connected when a test says so. */
function harness(
  options: { isStateless?: boolean; places?: ChildPlaces; isService?: boolean } = {},
) {
  const clock = createFakeClock()
  const opened: ReturnType<typeof connection>[] = []
  let era: Era | undefined
  const connection = (listener: ConnectionListener) => {
    const facts = Promise.withResolvers<ServerFacts | null>()
    const calls: UpstreamCall[] = []
    let isClosed = false
    const one: UpstreamConnection = {
      facts: () => facts.promise,
      async call(each) {
        calls.push(each)
        return { kind: 'answered', outcome: { kind: 'result', result: EMPTY } }
      },
      notify: () => {},
      counts: () => ({ torn: 0, foreign: 0, reconnects: 0 }),
      lastErrors: () => '',
      async close() {
        isClosed = true
      },
    }
    const connected = (found: Era) => {
      era = found
      const stated: ServerFacts = {
        ...{ era: found, protocolVersion: '', capabilities: EMPTY },
        ...{ serverInfo: null, instructions: null },
      }
      facts.resolve(stated)
      listener.onConnected(stated)
    }
    return { one, listener, calls, connected, isClosed: () => isClosed }
  }
  const hub = new SharedConnections({
    isStateless: options.isStateless ?? false,
    era: () => era,
    places: options.places === undefined ? null : { all: options.places, owner: 'a' },
    isService: options.isService ?? true,
    clock,
    open(_, listener) {
      const next = connection(listener)
      opened.push(next)
      return next.one
    },
  })
  const join = (capabilities?: string, isListening = () => false) => {
    const heard: string[] = []
    const client = hub.connect(claims(capabilities), {
      onNotification: method => heard.push(method),
      onRequest: async () => ({ kind: 'result', result: EMPTY }),
      onConnected: () => heard.push('connected'),
      onLost: () => heard.push('lost'),
      isListening,
    })
    return { client, heard }
  }
  return { clock, hub, join, opened }
}

const settled = () => new Promise(resolve => setImmediate(resolve))

describe('connections to a legacy server', () => {
  it('are one for each client, and end with it', async () => {
    const { join, opened } = harness()
    const one = join()
    opened[0]?.connected('legacy')
    const two = join()
    expect(opened).toHaveLength(2)
    await one.client.close()
    expect(opened.map(({ isClosed }) => isClosed())).toEqual([true, false])
    await two.client.close()
  })

  it('are shared by clients that can the same if the server is stateless', async () => {
    const { join, opened } = harness({ isStateless: true })
    const [one, two] = [join(), join()]
    join('{"roots":{}}')
    expect(opened).toHaveLength(2)
    opened[0]?.connected('legacy')
    expect([one.heard, two.heard]).toEqual([['connected'], ['connected']])
    opened[0]?.listener.onNotification('notifications/tools/list_changed', null)
    expect(two.heard).toContain('notifications/tools/list_changed')
  })

  it('send updates of a resource to those that follow it', async () => {
    const { join, opened } = harness({ isStateless: true })
    const [one, two] = [join(), join()]
    opened[0]?.connected('legacy')
    await one.client.call(call('resources/subscribe', '{"uri":"a"}'))
    await two.client.call(call('resources/subscribe', '{"uri":"a"}'))
    await one.client.call(call('resources/unsubscribe', '{"uri":"a"}'))
    opened[0]?.listener.onNotification(
      'notifications/resources/updated',
      Buffer.from('{"uri":"a"}'),
    )
    expect(one.heard).toEqual(['connected'])
    expect(two.heard).toEqual(['connected', 'notifications/resources/updated'])
    expect(opened[0]?.calls.map(({ method }) => method)).not.toContain('resources/unsubscribe')
  })

  it('are at most eight processes; one that is idle gives way', async () => {
    const { clock, join, opened } = harness({ places: new ChildPlaces() })
    join()
    opened[0]?.connected('legacy')
    for (let i = 1; i < 8; i++) join()
    const ninth = join()
    expect(opened).toHaveLength(8)
    expect(await ninth.client.facts()).toBeNull()
    expect(await ninth.client.call(call('tools/call'))).toEqual({ kind: 'full' })
    clock.advance(61_000)
    expect(await ninth.client.call(call('tools/call'))).toMatchObject({ kind: 'answered' })
    expect(opened.filter(({ isClosed }) => !isClosed())).toHaveLength(8)
  })

  it('close after ten idle minutes, and open again for a call', async () => {
    const { clock, join, opened } = harness()
    const { client } = join()
    opened[0]?.connected('legacy')
    clock.advance(631_000)
    expect(opened[0]?.isClosed()).toBe(true)
    await client.call(call('tools/call'))
    expect(opened).toHaveLength(2)
    expect(opened[1]?.calls).toHaveLength(1)
  })

  it('stay while their client listens, unless another one needs the place', async () => {
    const { clock, join, opened } = harness({ places: new ChildPlaces() })
    join('{}', () => true)
    opened[0]?.connected('legacy')
    clock.advance(3_600_000)
    expect(opened[0]?.isClosed()).toBe(false)
    for (let i = 1; i < 9; i++) await join('{}', () => true).client.call(call('tools/call'))
    expect(opened[0]?.isClosed()).toBe(true)
  })

  it('close once their client listens no more', () => {
    const { clock, join, opened } = harness()
    let isListening = true
    join('{}', () => isListening)
    opened[0]?.connected('legacy')
    clock.advance(3_600_000)
    isListening = false
    clock.advance(61_000)
    expect(opened[0]?.isClosed()).toBe(true)
  })

  it('stay for the only client of a process', async () => {
    const { clock, join, opened } = harness({ isService: false })
    join()
    opened[0]?.connected('legacy')
    clock.advance(3_600_000)
    expect(opened[0]?.isClosed()).toBe(false)
  })
})

describe('the connection to a modern server', () => {
  it('is one for all clients, whose calls state what each can', async () => {
    const { join, opened } = harness()
    const [one, two] = [join(), join('{"roots":{}}')]
    opened[0]?.connected('modern')
    await settled()
    expect(opened).toHaveLength(1)
    expect([one.heard, two.heard]).toEqual([['connected'], ['connected']])
    await two.client.call(call('tools/call'))
    expect(String(opened[0]?.calls[0]?.params)).toContain('clientCapabilities":{"roots":{}}')
    await one.client.call(call('tools/call'))
    expect(String(opened[0]?.calls[1]?.params)).toBe('{}')
  })

  it('reads its lists once, and again after they changed', async () => {
    const { clock, join, opened } = harness()
    const [one, two] = [join(), join()]
    opened[0]?.connected('modern')
    await settled()
    await Promise.all([one, two, one].map(({ client }) => client.call(call('tools/list'))))
    expect(opened[0]?.calls).toHaveLength(1)
    opened[0]?.listener.onNotification('notifications/prompts/list_changed', null)
    await one.client.call(call('tools/list'))
    expect(opened[0]?.calls).toHaveLength(1)
    opened[0]?.listener.onNotification('notifications/tools/list_changed', null)
    await two.client.call(call('tools/list'))
    expect(opened[0]?.calls).toHaveLength(2)
    clock.advance(61_000)
    await two.client.call(call('tools/list'))
    expect(opened[0]?.calls).toHaveLength(3)
  })

  it('is left by the other clients if a legacy server takes its place', async () => {
    const { join, opened } = harness()
    const [, two] = [join(), join()]
    opened[0]?.connected('modern')
    await settled()
    opened[0]?.connected('legacy')
    await settled()
    expect(opened).toHaveLength(2)
    await two.client.call(call('tools/call'))
    expect(opened[1]?.calls).toHaveLength(1)
  })

  it('waits for the next client, but not once the service has other servers', async () => {
    const { hub, join, opened } = harness()
    const first = join()
    opened[0]?.connected('modern')
    await first.client.close()
    expect(opened[0]?.isClosed()).toBe(false)
    hub.retire()
    expect(opened[0]?.isClosed()).toBe(true)
  })
})
