import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../../support/service-process.ts'

let upstream: RecordingUpstream
let processes: readonly ServiceProcess[]

beforeAll(async () => {
  upstream = await recordingUpstream()
  const env = { HAVERSACK_ANTHROPIC_URL: upstream.url, HAVERSACK_OPENAI_URL: upstream.url }
  processes = await Promise.all([startProcess({ env }), startProcess({ env })])
})

afterAll(async () => {
  killProcesses()
  await upstream.close()
})

describe.each(Object.entries(CONVERSATIONS))('a conversation: %s', (_, { path, body }) => {
  it('is rewritten to the same bytes by processes that share nothing', async () => {
    const [inOrder, backwards] = processes as [ServiceProcess, ServiceProcess]
    const turns = [0, 1, 2, 3, 4, 5]
    const forwarded = async ({ url }: ServiceProcess, turn: number) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url + path, { method: 'POST', body: body(turn), headers })
      expect(await response.text()).toBe('{"ok": true}')
      return upstream.last().body.toString()
    }
    const first: string[] = []
    for (const turn of turns) first.push(await forwarded(inOrder, turn))
    // From the last to the first, so that nothing that a process remembers could help.
    for (const turn of turns.toReversed()) {
      expect(await forwarded(backwards, turn)).toBe(first[turn])
      expect(first[turn]?.length).toBeLessThan(body(turn).length)
    }
  })
})
