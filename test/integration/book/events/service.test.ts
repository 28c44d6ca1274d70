import { expect, it } from 'vitest'
import { readTelemetryKey } from '../../../../src/book/events/key-file.ts'
import { telemetryFolder } from '../../../../src/book/events/layout.ts'
import { createPseudonyms } from '../../../../src/core/telemetry/pseudonyms.ts'
import { eventually } from '../../../support/eventually.ts'
import { eventsIn, summariesIn, temporaryFolder } from '../../../unit/book/events/writer.ts'
import { startSmallService } from '../../service/harness.ts'
import { recordingUpstream } from '../../service/recording-upstream.ts'

const rows = (name: string) =>
  JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id, name: `${name}${id}` })))
const turn = (id: string, name: string) => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Read', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: rows(name) }] },
]

it('tells of a result in requests of a proxy once, also behind a restart', async () => {
  const upstream = await recordingUpstream()
  const data_dir = temporaryFolder()
  /**
   * The ids of the calls that were told of so far, after these turns were sent by a process of
   * their own.
   */
  const eventsAfter = async (...turns: unknown[][]) => {
    const service = await startSmallService({
      data_dir,
      workers: { count: 1 },
      proxy: { anthropic_url: upstream.url },
      telemetry: { sample_rate: 1 },
    })
    for (let end = 1; end <= turns.length; end++) {
      const messages = [{ role: 'user', content: 'go' }, ...turns.slice(0, end).flat()]
      const body = JSON.stringify({ model: 'claude-sonnet-4-6', messages })
      const response = await service.post('/anthropic/v1/messages', body)
      expect(await response.text()).toBe('{"ok": true}')
    }
    await service.close()
    const events = await eventsIn(telemetryFolder(data_dir))
    expect(new Set(events.map(({ session_hash }) => session_hash)).size).toBe(1)
    return events.map(({ tool_call_id_hash }) => tool_call_id_hash).sort()
  }
  const one = await eventsAfter(turn('a', 'x'), turn('b', 'y'))
  const { toolCall } = createPseudonyms(readTelemetryKey(data_dir)!, 'local')
  expect(one).toEqual(['a', 'b'].map(toolCall).sort())
  expect(await eventsAfter(turn('a', 'x'), turn('b', 'y'), turn('c', 'z'))).toEqual(
    ['a', 'b', 'c'].map(toolCall).sort(),
  )
  // Nothing was new.
  expect(await eventsAfter(turn('a', 'x'))).toHaveLength(3)
  await upstream.close()
})

it('sums a session up when its client closes it', async () => {
  const data_dir = temporaryFolder()
  const service = await startSmallService({
    data_dir,
    workers: { count: 1 },
    telemetry: { sample_rate: 1 },
  })
  const session = 'a/b'
  await (await service.post('/v1/encode', JSON.stringify({ content: rows('x'), session }))).text()
  expect(await summariesIn(telemetryFolder(data_dir))).toEqual([])
  const path = `/v1/sessions/${encodeURIComponent(session)}`
  expect((await fetch(service.url + path, { method: 'DELETE' })).status).toBe(200)
  await eventually(async () =>
    expect(await summariesIn(telemetryFolder(data_dir))).toMatchObject([{ total_events: 1 }]),
  )
  await service.close()
})
