import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../../support/service-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-arms-at-once-'))
const SESSIONS = 24
let upstream: RecordingUpstream
let services: readonly ServiceProcess[]

beforeAll(async () => {
  upstream = await recordingUpstream()
  const file = join(folder, 'pipeline.toml')
  writeFileSync(file, '[arms]\nholdout = 0.5\n')
  const env = {
    HAVERSACK_DATA_DIR: folder,
    HAVERSACK_PIPELINE_CONFIG: file,
    HAVERSACK_ANTHROPIC_URL: upstream.url,
  }
  services = await Promise.all([startProcess({ env }), startProcess({ env })])
})
afterAll(async () => {
  killProcesses()
  await Promise.all(services.map(({ exited }) => exited))
  await upstream.close()
  rmSync(folder, { recursive: true })
})

/** A conversation with results of its own; `turns` of them are there. */
function bodyOf(session: number, turns: number): string {
  const messages = Array.from({ length: turns }, (_, turn) => {
    const rows = Array.from({ length: 40 }, (_, id) => ({ id, of: `${session}-${turn}`, ok: true }))
    const content = JSON.stringify(rows, null, 2)
    return [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${turn}`, name: 'list', input: {} }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content }] },
    ]
  }).flat()
  const tools = [{ name: 'list', input_schema: {} }]
  return JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages })
}

/** What the vendor gets of a request through a process. */
async function sentThrough(at: number, session: number, turns: number): Promise<string> {
  const name = `${at}-${session}-${turns}`
  const response = await fetch(`${services[at]!.url}/anthropic/v1/messages?${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-haversack-session': `s-${session}` },
    body: bodyOf(session, turns),
  })
  await response.text()
  return upstream.requests.find(({ line }) => line.endsWith(`?${name}`))!.body.toString()
}

describe('two processes on one data folder that draw at once', () => {
  it('have each session in one arm, from its first request on', async () => {
    const sessions = Array.from({ length: SESSIONS }, (_, session) => session)
    // Neither has a secret yet, and both are asked for all sessions at the same time.
    const first = await Promise.all(
      sessions.map(session => Promise.all([0, 1].map(at => sentThrough(at, session, 1)))),
    )
    for (const [a, b] of first) expect(a).toBe(b)
    const isHeldOut = (session: number) => first[session]![0] === bodyOf(session, 1)
    const heldOut = sessions.filter(isHeldOut).length
    expect(heldOut).toBeGreaterThan(0)
    expect(heldOut).toBeLessThan(SESSIONS)
    const later = await Promise.all(
      sessions.map(session => Promise.all([0, 1].map(at => sentThrough(at, session, 2)))),
    )
    for (const [session, [a, b]] of later.entries()) {
      expect(a).toBe(b)
      expect(a === bodyOf(session, 2)).toBe(isHeldOut(session))
      // The prefix is as it was.
      const begun = first[session]![0]!
      expect(a!.slice(0, begun.lastIndexOf(']}'))).toContain(
        begun.slice(begun.indexOf('"messages"'), begun.lastIndexOf(']}]')),
      )
    }
  })
})
