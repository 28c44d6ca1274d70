import { expect, it } from 'vitest'
import { CLEARING_TERMS } from '../../../../../src/core/base/clearing-terms.ts'
import { ClearingPlan } from '../../../../../src/core/conversation/rewrite/clearing-plan.ts'
import type { ToolResultText } from '../../../../../src/core/dialects/bodies/tool-result-text.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'

const SECTIONS = pipelineSchema.parse({ clearing: { enabled: true } })

/** A write into the cache that costs little more than a read. */
const CHEAP = { ...CLEARING_TERMS, cacheWrite: 0.11 }

const BYTES = 1_000
const line = (at: number) => `the long line with the number ${at}`
const pageOf = (at: number) => `${line(at)}\n`.repeat(30)

/** A plan after `reads` results in turns of their own, and then results of one edit. */
function planAfter(reads: number, editResults: number, args: object, messagesApart = 2) {
  const plan = new ClearingPlan(SECTIONS, 0, { ...CHEAP, keepNewest: 2 })
  let due: readonly number[] = []
  for (let at = 0; at < reads + editResults; at++) {
    const isRead = at < reads
    const result = {
      start: at * BYTES,
      end: (at + 1) * BYTES,
      message: at * messagesApart,
      tool: isRead ? 'Read' : 'Edit',
      isError: false,
      text: () => pageOf(at),
      args: () => (isRead ? {} : args),
    } as ToolResultText
    plan.reach(result)
    if (!isRead) due = plan.due()
    plan.pass(result, BYTES)
  }
  return due
}

it('keeps what an edit quotes, and reads the arguments of an edit once for all its results', () => {
  let reads = 0
  const quoting = {
    get old_string() {
      reads++
      return [0, 1, 2, 3].map(line).join('\n')
    },
  }
  expect(planAfter(4, 1_000, {})).toContain(0)
  const due = planAfter(4, 1_000, quoting)
  for (const at of [0, 1, 2, 3]) expect(due).not.toContain(at)
  expect(due).toContain(4)
  expect(reads).toBe(1)
})

it('looks at the first lines of an edit only', () => {
  const manyThen = (at: number) => ({
    content: [...Array.from({ length: 4_000 }, (_, i) => line(1e6 + i)), line(at)].join('\n'),
    old_string: line(1),
  })
  const due = planAfter(4, 100, manyThen(0))
  expect(due).toContain(0)
  expect(due).not.toContain(1)
})

it('does not count the results of one message as turns', () => {
  expect(planAfter(4, 100, {}, 0)).toEqual([])
  expect(planAfter(4, 100, {}, 1)).toEqual([])
})

it('takes a step as soon as reading has cost four times its price', () => {
  const plan = new ClearingPlan(SECTIONS, 0, { ...CLEARING_TERMS, keepNewest: 2 })
  const goes = (BYTES - 120) * 0.1
  let rent = 0
  let steps = 0
  for (let at = 0; at < 100 && steps === 0; at++) {
    const call = { message: at * 2, tool: 'Read', isError: false, text: () => '' }
    const result = { ...call, start: at * BYTES, end: (at + 1) * BYTES } as ToolResultText
    plan.reach(result)
    const old = Math.max(0, at - 2)
    rent += old * goes
    const price = 4 * (at * BYTES - old * (BYTES - 120)) * 1.15
    const due = plan.due()
    expect(due.length).toBe(old > 0 && rent >= price ? old : 0)
    if (due.length > 0) steps++
    plan.pass(result, BYTES)
  }
  expect(steps).toBe(1)
})

it('keeps the newest 24 by default, and what an edit among these quotes', () => {
  const plan = new ClearingPlan(SECTIONS, 0, CHEAP)
  const cleared: number[] = []
  for (let at = 0; at < 120; at++) {
    const isEdit = at % 20 === 19
    const result = {
      start: at * BYTES,
      end: (at + 1) * BYTES,
      message: at * 2,
      tool: isEdit ? 'Edit' : 'Read',
      isError: false,
      text: () => pageOf(at),
      args: () => (isEdit ? { old_string: line(at - 15) } : {}),
    } as ToolResultText
    plan.reach(result)
    for (const index of plan.due()) {
      expect(at - index).toBeGreaterThan(24)
      cleared.push(index)
    }
    plan.clear(cleared.splice(0))
    plan.pass(result, BYTES)
  }
})

it('does not clear again what went at a pause', () => {
  const plan = new ClearingPlan(SECTIONS, 0, { ...CHEAP, keepNewest: 6, keepAtPauses: 2 })
  const cleared: number[] = []
  for (let at = 0; at < 40; at++) {
    const call = { message: at * 2, tool: 'Read', isError: false, text: () => pageOf(at) }
    const result = { ...call, start: at * BYTES, end: (at + 1) * BYTES } as ToolResultText
    plan.reach(result)
    const isPause = at % 13 === 12
    const due = isPause ? plan.dueIfCold() : plan.due()
    if (isPause) expect(due.at(-1)).toBe(at - 3)
    if (due.length > 0) plan.clear(due)
    cleared.push(...due)
    plan.pass(result, BYTES)
    expect(plan.mayClear()).toBe(at >= 2 && !cleared.includes(at - 2))
  }
  expect(cleared).toEqual([...cleared.keys()])
})
