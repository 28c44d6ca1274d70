import { describe, expect, it } from 'vitest'
import { type Poll, Polling, pollTtl } from '../../../src/ahead/polling.ts'
import { capsMarkup } from '../../../src/core/enrich/markup-cap.ts'

const POLL: Poll = { context: 'x', upstream: 'u', key: 'status', ttlS: 15 }

function setUp() {
  const clock = { now: 0 }
  const polling = new Polling(() => clock.now)
  /** A call at a time in seconds: its note, or the answer that came instead. */
  const ask = (atS: number, text = 'running', poll = POLL) => {
    clock.now = atS * 1_000
    return polling.answer(poll) ?? polling.observe(poll, { hash: text, text })
  }
  return { clock, polling, ask }
}

// Contract, section 7; SOURCES.md#planner, "Real-world patterns", 1.
describe('polling', () => {
  it('is noted after three calls with the same result', () => {
    const { ask } = setUp()
    expect([ask(0), ask(4), ask(9)]).toEqual([null, null, '> [unchanged: 3 calls in 9 s]'])
  })

  it('has the fourth call answered from the third, and the fifth made again', () => {
    const { ask } = setUp()
    for (const at of [0, 3, 6]) ask(at)
    expect(ask(8)).toEqual({
      text: 'running',
      note: '> [unchanged: 4 calls in 8 s, answered from the last one]',
    })
    expect(ask(10)).toBe('> [unchanged: 5 calls in 10 s]')
    expect(ask(12)).toMatchObject({ text: 'running' })
    expect(ask(13, 'done')).toBeNull()
    expect([ask(14, 'done'), ask(15, 'done')]).toEqual([null, '> [unchanged: 3 calls in 2 s]'])
  })

  it('counts calls within the time to live', () => {
    const { ask } = setUp()
    expect([ask(0), ask(8), ask(16)]).toEqual([null, null, null])
    expect(ask(23)).toBe('> [unchanged: 3 calls in 15 s]')
    expect(ask(39)).toBeNull()
  })

  it('does not count results that differ, other calls or other contexts', () => {
    const { ask } = setUp()
    expect([ask(0, 'a'), ask(1, 'b'), ask(2, 'a')]).toEqual([null, null, null])
    expect(ask(3, 'a', { ...POLL, context: 'y' })).toBeNull()
    expect(ask(3, 'a', { ...POLL, key: 'other' })).toBeNull()
    expect(ask(4, 'a')).toBeNull()
  })

  it('does not answer after something may have changed at the server', () => {
    const { ask, polling } = setUp()
    for (const at of [0, 1, 2]) ask(at)
    polling.invalidateUpstream('v')
    expect(ask(3)).toMatchObject({ text: 'running' })
    ask(4)
    polling.invalidateUpstream('u')
    expect(ask(5)).toBeNull()
    for (const at of [6, 7]) ask(at)
    polling.forget('x')
    expect(ask(8)).toBeNull()
  })

  it('does not answer with long results', () => {
    const { ask } = setUp()
    const long = 'x'.repeat(70_000)
    expect([ask(0, long), ask(1, long), ask(2, long), ask(3, long)]).toEqual([
      ...[null, null, '> [unchanged: 3 calls in 2 s]', '> [unchanged: 4 calls in 3 s]'],
    ])
  })

  it('remembers a bounded number of calls', () => {
    const { ask } = setUp()
    for (const at of [0, 1, 2]) ask(at)
    for (let i = 0; i < 1_000; i++) ask(2, 'a', { ...POLL, key: `k${i}` })
    expect(ask(3)).toBeNull()
  })
})

describe('the time to live of a poll', () => {
  it.each([
    ['get_branch_pipeline', undefined, 15],
    ['get_job_status', undefined, 15],
    ['list_workflow_runs', undefined, 15],
    ['actions_get', undefined, undefined],
    ['get_issue', undefined, undefined],
    ['get_issue', 5, 5],
    ['get_status', 0, 0],
  ])('of %s with %s is %s', (tool, stated, expected) => {
    expect(pollTtl(tool, stated)).toBe(expected)
  })
})

// SOURCES.md#planner, "Real-world patterns", 9: browser DOM dumps.
describe('markup of a page', () => {
  const page = `<html><body>${'<div class="a"><p>text</p></div>'.repeat(200)}</body></html>`

  it.each<[boolean, string, string, string, readonly string[]]>([
    [true, 'browser_snapshot', 's', page, []],
    [true, 'get_content', 'playwright', page, ['price']],
    [true, 'dump_dom', 's', page, []],
    [false, 'get_content', 's', page, []],
    [false, 'browser_snapshot', 's', page.slice(0, 4_000), []],
    [false, 'browser_snapshot', 's', 'plain text '.repeat(1_000), []],
    ...['html', 'dom', 'markup', 'selector', 'xpath', 'selectors'].map(
      word =>
        [false, 'browser_snapshot', 's', page, ['find', word]] as [
          ...[boolean, string, string, string, readonly string[]],
        ],
    ),
  ])('is capped (%s): %s of %s', (expected, tool, server, text, keywords) => {
    expect(capsMarkup(tool, server, text, keywords)).toBe(expected)
  })
})
