import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'

const CALL = '{"id" : 12345678901234567890, "method":"tools/call","params":{"id":1,"name":"echo"}}'

let upstream: RecordingUpstream
beforeEach(async () => {
  upstream = await RecordingUpstream.start({ era: 'legacy', sessions: true })
})
afterEach(() => upstream.close())

describe('over stdio', () => {
  const start = (...flags: readonly string[]): ChildProcessWithoutNullStreams => {
    const { command, args } = upstream.stdio.command(...flags)
    return spawn(command, args)
  }

  test('closes its stdout and lives on', async () => {
    upstream.on('tools/call', ({ channel }) => channel.end())
    const child = start()
    child.stdin.write(`${CALL}\n`)
    child.stdout.resume()
    await once(child.stdout, 'end')
    child.stdin.write('{"method":"still/here"}\n')
    await eventually(() => expect(upstream.callsOf('still/here')).toHaveLength(1))
    expect(child.exitCode).toBeNull()
    child.kill()
    await once(child, 'close')
  })

  test('ignores SIGTERM and forks, until the test ends', async () => {
    const child = start('--stubborn', '--fork')
    await eventually(() => expect(upstream.stdio.processes.size).toBe(2))
    child.kill('SIGTERM')
    child.stdin.end(`${CALL}\n`)
    await eventually(() => expect(upstream.calls).toHaveLength(1))
    expect(child.exitCode).toBeNull()
    const closed = once(child, 'close')
    await upstream.close()
    await closed
    upstream = await RecordingUpstream.start({ era: 'modern' })
  })
})
