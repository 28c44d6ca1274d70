import { describe, expect, it } from 'vitest'
import { AppError } from '../../../src/core/base/errors.ts'
import { inProcessPlayer, type Player } from '../../../src/lab/replay/player.ts'
import type { RecordedResult } from '../../../src/lab/replay/read-results.ts'
import { Replay } from '../../../src/lab/replay/replay.ts'
import { localContext } from '../../support/local-context.ts'

const text = Array.from({ length: 80 }, (_, at) => `line ${at}: ${(at * 7919) % 613}`).join('\n')
const result = (more: Partial<RecordedResult> = {}): RecordedResult => ({
  ...{ session: 's', tool: 'Read', args: { path: '/a' }, text },
  ...more,
})

function replayWith(changed: Partial<Player> = {}, common = {}) {
  const context = localContext()
  const [lines, told]: [string[], string[]] = [[], []]
  const replay = new Replay({
    player: { ...inProcessPlayer(context), ...changed },
    ...{ common, counters: context.counters, counter: context.counters.get('o200k_base') },
    ...{ share: 1, baselineTokens: null },
    write: line => void lines.push(line),
    tell: (what, reason) => void told.push(`${what}: ${reason}`),
  })
  return { replay, lines, told }
}

describe('Replay', () => {
  it('counts hints whose ids give another text as failed', async () => {
    const { replay, told } = replayWith({ retrieve: async () => 'another text' })
    await replay.play(result())
    const again = await replay.play(result({ args: { path: '/b' } }))
    expect(again?.answer.layer).toBe('L0')
    expect(again?.findings).toEqual([expect.stringMatching(/^reference: \w+ cannot be redeemed$/)])
    expect(replay.hints).toEqual({ sent: 1, failed: 1 })
    expect(told).toEqual([`not true: ${again?.findings[0]}`])
  })

  it('pays for the text that is fetched, and for the call', async () => {
    const { replay } = replayWith({}, { mode: 'elide', budget_tokens: 150 })
    await replay.play(result())
    const [{ fetched } = { fetched: 0 }] = replay.billed
    expect(fetched).toBeGreaterThan(0)
    expect(replay.retrieval).toEqual({ markers: 1, sent: 1, tokens: 150 + fetched })
  })

  it('tells of each compaction between two results', async () => {
    const { replay, lines } = replayWith()
    for (const epoch of [1, 3]) await replay.play(result({ epoch }))
    const compaction = '{"event":"compaction","session":"s"}\n'
    expect(lines.filter(line => line === compaction)).toHaveLength(2)
    expect(replay.by.layer.has('L0')).toBe(false)
  })

  it('takes what cannot be decoded for lost, and any other error for a failure', async () => {
    const failing = (code: 'not_decodable' | 'internal') => ({
      decode: () => Promise.reject(new AppError(code, 'no')),
    })
    const lost = replayWith(failing('not_decodable'))
    expect((await lost.replay.play(result()))?.restored).toBe(false)
    expect(lost.replay.total).toMatchObject({ results: 1, restored: 0 })
    const failed = replayWith(failing('internal'))
    expect(await failed.replay.play(result())).toBeNull()
    expect([failed.replay.failed, failed.replay.total.results]).toEqual([1, 0])
  })

  it('counts a result that fits no budget apart', async () => {
    const { replay, lines } = replayWith({}, { budget_tokens: 3 })
    await replay.play(result())
    expect([replay.tooSmall, replay.failed]).toEqual([1, 0])
    expect(JSON.parse(lines[0]!)).toMatchObject({ answer: null })
  })
})
