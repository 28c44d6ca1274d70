import { describe, expect, it } from 'vitest'
import type { ClientSession } from '../../../../src/mcp/client/client-session.ts'
import type { ModernSession } from '../../../../src/mcp/fronts/modern/stdio-session.ts'
import { EraSession } from '../../../../src/mcp/fronts/stdio-front.ts'
import { readMessage } from '../../../../src/mcp/json-rpc.ts'

const M = 'io.modelcontextprotocol/'
const envelope = (version: string) =>
  `{"_meta":{"${M}protocolVersion":"${version}","${M}clientCapabilities":{}}}`
const MODERN = envelope('2026-07-28')

/** A client whose messages are answered with the era that they reached. */
function setUp() {
  const closed: string[] = []
  const session = (era: string) => ({
    receive: () => Promise.resolve(Buffer.from(era)),
    close: async () => void closed.push(era),
  })
  const eras = new EraSession({
    legacy: () => session('legacy') as unknown as ClientSession,
    modern: () => session('modern') as unknown as ModernSession,
  })
  const send = async (method: string, params = '{}', id = ',"id":1') =>
    String(
      await eras.receive(
        readMessage(Buffer.from(`{"jsonrpc":"2.0"${id},"method":"${method}","params":${params}}`))!,
      ),
    )
  return { send, closed, eras }
}

describe('a client on a pipe', () => {
  it('is pinned by initialize, after a probe too, and the probe’s servers end', async () => {
    const { send, closed } = setUp()
    expect(await send('server/discover', MODERN)).toBe('modern')
    expect(await send('initialize')).toBe('legacy')
    expect(closed).toEqual(['modern'])
    expect(await send('tools/list', MODERN)).toBe('legacy')
  })

  it('is pinned by its first request of 2026-07-28', async () => {
    const { send, closed, eras } = setUp()
    expect(await send('notifications/cancelled', '{}', '')).toBe('legacy')
    expect(await send('server/discover', MODERN)).toBe('modern')
    expect(await send('tools/list', MODERN)).toBe('modern')
    expect(await send('initialize')).toBe('modern')
    expect(await send('notifications/cancelled', '{}', '')).toBe('modern')
    await eras.close()
    expect(closed).toEqual(['legacy', 'legacy', 'modern'])
  })

  it('is not pinned by a request that is refused', async () => {
    const { send } = setUp()
    expect(await send('tools/list', envelope('2031-01-01'))).toBe('modern')
    expect(await send('initialize')).toBe('legacy')
  })
})
