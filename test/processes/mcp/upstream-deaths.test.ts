import { describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { connectTo, knownEra, rawTarget, textOfEnd, toolCall } from '../../support/mcp/connect.ts'
import { fastClock } from '../../support/mcp/fast-clock.ts'

function connect(options: Parameters<typeof connectTo>[1] = {}) {
  const verdicts = knownEra('legacy')
  return connectTo(rawTarget('legacy'), { verdicts, clock: fastClock(), ...options })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a child that dies', () => {
  it('loses its calls, and is started again, each time', async () => {
    const { connection, events } = connect()
    for (let n = 1; n <= 4; n++) {
      const hanging = connection.call(toolCall('hang'))
      expect(await connection.call(toolCall('die'))).toEqual({ kind: 'lost', hasRun: 'maybe' })
      expect(await hanging).toEqual({ kind: 'lost', hasRun: 'maybe' })
      expect(textOfEnd(await connection.call(toolCall('torn')))).toBe('{}')
      expect(connection.counts().reconnects).toBe(n)
    }
    expect(events.filter(event => event === 'lost')).toHaveLength(4)
    await connection.close()
  })

  it('gets a call that may be repeated once more', async () => {
    const { connection } = connect()
    const end = await connection.call(toolCall('die', { canRepeat: true }))
    expect(end).toEqual({ kind: 'lost', hasRun: 'maybe' })
    await connection.facts()
    await eventually(() => expect(connection.counts().reconnects).toBe(2))
    await connection.close()
  })

  it('is not called while it is down', async () => {
    const { connection } = connect({ limits: { downWaitMs: 0 } })
    await connection.call(toolCall('die'))
    expect(await connection.call(toolCall('hang'))).toEqual({ kind: 'down' })
    await connection.close()
    expect(await connection.call(toolCall('hang'))).toEqual({ kind: 'down' })
    expect(await connection.facts()).toBeNull()
  })

  it('may be a command that does not exist', async () => {
    const target = { ...rawTarget('legacy'), command: '/no/such/command' } as ReturnType<
      typeof rawTarget
    >
    const { connection } = connectTo(target, {
      clock: fastClock(),
      limits: { firstWaitMs: 0, downWaitMs: 0 },
    })
    expect(await connection.facts()).toBeNull()
    const detail = 'its program /no/such/command is not found'
    expect(await connection.call(toolCall('x'))).toEqual({ kind: 'down', detail })
    await connection.close()
  })
})

describe('a child that counts as dead', () => {
  it.each(['flood', 'close-output'])('because of %s is killed', async tool => {
    const { connection } = connect({ limits: { messageBytes: 1_000_000 } })
    const { pid } = JSON.parse(textOfEnd(await connection.call(toolCall('fork'))) as string)
    expect(await connection.call(toolCall(tool))).toEqual({ kind: 'lost', hasRun: 'maybe' })
    await eventually(() => expect(isAlive(pid)).toBe(false))
    expect(textOfEnd(await connection.call(toolCall('torn')))).toBe('{}')
    await connection.close()
  })
})

describe('the end of a connection', () => {
  it('leaves no process behind, not even of those that the child forked', async () => {
    const { connection } = connect()
    const started = JSON.parse(textOfEnd(await connection.call(toolCall('fork'))) as string)
    expect(isAlive(started.pid) && isAlive(started.forked)).toBe(true)
    await connection.close()
    await eventually(() => expect(isAlive(started.pid)).toBe(false))
    await eventually(() => expect(isAlive(started.forked)).toBe(false))
  })

  it('kills a child that ignores every request to end', async () => {
    const { connection } = connectTo(rawTarget('legacy', { UPSTREAM_STUBBORN: 'yes' }), {
      verdicts: knownEra('legacy'),
      clock: fastClock(),
    })
    const { pid } = JSON.parse(textOfEnd(await connection.call(toolCall('fork'))) as string)
    await connection.close()
    await eventually(() => expect(isAlive(pid)).toBe(false))
  })

  it('also ends a probe under way', async () => {
    const { connection } = connectTo(rawTarget('silent'), { clock: fastClock(1) })
    await connection.close()
    expect(await connection.facts()).toBeNull()
  })
})
