import { describe, expect, test } from 'vitest'
import type { ArmDelta, ResultArm } from '../../../../../src/core/arms/sums.ts'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { FollowUps } from '../../../../../src/core/conversation/rewrite/follow-ups.ts'
import { bytesOf } from '../../../../support/runner.ts'

const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }
const HASH = '0123456789abcdef01234567'
const lines = (from: number, to: number) =>
  Array.from(
    { length: to - from },
    (_, n) => `the line with the number ${from + n} of a file`,
  ).join('\n')

interface Call {
  readonly tool: string
  readonly args: object
  readonly text: string
  readonly isError?: boolean
}

const READ: Call = { tool: 'Read', args: { file_path: '/a.ts' }, text: lines(0, 100) }
const OTHER: Call = { tool: 'Grep', args: { pattern: 'x' }, text: 'nothing that was there' }

/** What a conversation adds whose first result is, or would have been, elided. */
function deltasOf(calls: readonly Call[], { isWhole = false, known = 0 } = {}) {
  const messages = calls.flatMap(({ tool, args, text, isError }, n) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name: tool, input: args }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: text, is_error: isError }],
    },
  ])
  const body = bytesOf(JSON.stringify({ model: 'm', messages }))
  const { results } = scanRequest(body, 'anthropic_messages', LIMITS)!
  const followUps = new FollowUps({
    mutating: ['Edit'],
    retrieving: ['haversack_retrieve'],
    start: 0,
    count: text => text.length,
  })
  const arm: ResultArm = { class: 'Read', isWhole, direct: 1_000, share: 0.5 }
  for (const [n, result] of results.entries()) {
    const sent = { literal: null, markers: n === 0 && !isWhole ? [HASH] : [] }
    followUps.pass(result, n === 0 ? { ...sent, arm } : sent, n < known)
  }
  return followUps.uncounted()
}

const sumOf = (arms: readonly ArmDelta[], name: keyof ArmDelta['sums']) =>
  arms.reduce((sum, { sums }) => sum + sums[name], 0)

describe('a follow-up', () => {
  test.each([
    ['retrieval', { tool: 'mcp__h__haversack_retrieve', args: { hash: HASH }, text: 'all' }],
    ['same_call', READ],
    ['same_file', { ...READ, args: { file_path: './../a.ts', offset: 50 }, text: lines(50, 150) }],
    ['failed_edit', { tool: 'Edit', args: { file_path: '/a.ts' }, text: 'no', isError: true }],
  ] as const)('is a %s', (kind, call) => {
    const path = kind === 'same_file' ? { ...call, args: { path: '/x/../a.ts', offset: 50 } } : call
    const { arms } = deltasOf([READ, OTHER, path])
    expect(sumOf(arms, kind)).toBe(1)
    expect(sumOf(arms, 'wy')).toBe(2)
    expect(sumOf(arms, 'turns')).toBe(1)
    expect(sumOf(arms, 'wc')).toBeGreaterThan(0)
  })

  test.each([
    ['another file', { ...READ, args: { file_path: '/b.ts' } }],
    [
      'another part of the file',
      { ...READ, args: { file_path: '/a.ts', offset: 100 }, text: lines(100, 200) },
    ],
    ['an edit that worked', { tool: 'Edit', args: { file_path: '/a.ts' }, text: 'done' }],
    ['what another marker names', { tool: 'haversack_retrieve', args: { hash: 'ff' }, text: 'x' }],
    ['another tool', OTHER],
  ] as const)('is not %s', (_, call) => {
    const { arms } = deltasOf([READ, call])
    expect(sumOf(arms, 'wc')).toBe(0)
    expect(sumOf(arms, 'wy')).toBe(0)
  })

  test('comes within ten calls', () => {
    const others = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ ...OTHER, args: { n } }))
    expect(sumOf(deltasOf([READ, ...others(9), READ]).arms, 'same_call')).toBe(1)
    expect(sumOf(deltasOf([READ, ...others(10), READ]).arms, 'same_call')).toBe(0)
  })

  test('costs the share of its lines that came back', () => {
    const half = { ...READ, args: { file_path: '/a.ts', offset: 50 }, text: lines(50, 150) }
    const [whole, part] = [READ, half].map(each => sumOf(deltasOf([READ, each]).arms, 'wc'))
    expect(part! / whole!).toBeCloseTo(0.5, 1)
  })

  test('in a loop counts ten times at most, and its square as one cost', () => {
    const { arms } = deltasOf(Array.from({ length: 30 }, () => READ))
    expect(sumOf(arms, 'same_call')).toBe(10)
    expect(sumOf(arms, 'wy')).toBe(2)
    // Both have a weight of 2, squares of it 4.
    const cost = sumOf(arms, 'wc') / 2
    expect(sumOf(arms, 'qcc') / 4).toBeCloseTo(cost * cost, 3)
    expect(sumOf(arms, 'qdc') / 4).toBeCloseTo(cost * 1_000, 3)
  })

  test('is counted in one request of a conversation', () => {
    const calls = [READ, OTHER, READ, { ...OTHER, args: { n: 1 } }]
    const later = deltasOf(calls, { known: 3 })
    expect(later).toMatchObject({ arms: [], results: 1, again: 0 })
    const second = deltasOf(calls.slice(0, 3), { known: 2 })
    expect(second).toMatchObject({ results: 1, again: 1, failedEdits: 0 })
    expect(sumOf(second.arms, 'results')).toBe(0)
    expect(sumOf(second.arms, 'same_call')).toBe(1)
  })

  test('of a whole result is of its arm', () => {
    const { arms } = deltasOf([READ, READ], { isWhole: true })
    expect(new Set(arms.map(({ arm }) => arm))).toEqual(new Set(['whole']))
  })
})
