import { describe, expect, it } from 'vitest'
import { quotedLines } from '../../../../src/core/conversation/needs/edit-quotes.ts'
import { needsOfPlayed } from '../../../../src/lab/guard/plays.ts'
import type { RecordedResult } from '../../../../src/lab/play/conversation.ts'
import type { PlayedResult } from '../../../../src/lab/play/play.ts'

const FILE = { file_path: '/src/sum.ts' }
const HIDDEN = 'return left + right'
const TEXT = `   1→export function sum(left, right) {\n   2→  ${HIDDEN}\n   3→}`
const SHOWN = '   1→export function sum(left, right) {\n[… lines 2-3]'

function result(more: Partial<RecordedResult> = {}): RecordedResult {
  return {
    ...{ tool: 'Read', args: FILE, text: TEXT, is_error: false, call_id: undefined },
    ...{ model: undefined, class: 'Read', agent: undefined, epoch: 0 },
    ...more,
  }
}

function edit(quote: string, more: Partial<RecordedResult> = {}): RecordedResult {
  const args = { ...FILE, old_string: quote, new_string: 'x' }
  return result({ tool: 'Edit', args, text: 'ok', ...more })
}

function played(shown?: string): PlayedResult {
  return {
    ...{ before: 10, after: 5, layer: 'L2', format: 'x', shape: 'prose' },
    ...{ innerFormats: [], referred: 0, elided: 5, hints: 0 },
    ...(shown === undefined ? {} : { shown }),
  }
}

function needsOf(results: readonly RecordedResult[], shown = SHOWN) {
  const outcomes = results.map(({ tool }) => played(tool === 'Read' ? shown : undefined))
  return needsOfPlayed(results, outcomes).map(need => [need.result, need.edit])
}

describe('needsOfPlayed', () => {
  it('finds a hidden line that an edit quotes', () => {
    expect(needsOf([result(), edit(`  ${HIDDEN}\n}`)])).toEqual([[0, 1]])
  })

  it.each([
    ['a line that stayed', edit('export function sum(left, right) {')],
    ['a short line', edit('}')],
    ['a line of another file', edit(HIDDEN, { args: { path: '/o.ts', old_string: HIDDEN } })],
    ['a line in an edit that failed', edit(HIDDEN, { is_error: true })],
    ['a line in another context', edit(HIDDEN, { agent: 'other' })],
    ['a line after a compaction', edit(HIDDEN, { epoch: 1 })],
    ['a line of the new text', edit('x'.repeat(20), { args: { ...FILE, new_string: HIDDEN } })],
  ])('finds no need in %s', (_, later) => {
    expect(needsOf([result(), later])).toEqual([])
  })

  it('finds no need if something else shows the line', () => {
    const search = result({ tool: 'Grep', args: {}, text: `sum.ts:2:  ${HIDDEN}` })
    expect(needsOf([result(), search, edit(HIDDEN)])).toEqual([])
    const aligned = result({ tool: 'Grep', args: {}, text: 'sum.ts:9:\treturn   left  + right' })
    expect(needsOf([result(), aligned, edit(HIDDEN)])).toEqual([])
    expect(needsOf([result(), edit('x', { args: { new_string: HIDDEN } }), edit(HIDDEN)])).toEqual(
      [],
    )
  })

  it('finds the need of a result once, for the newest that hides the line', () => {
    expect(needsOf([result(), result(), edit(HIDDEN), edit(HIDDEN)])).toEqual([[1, 2]])
  })

  it('searches for a hundred lines of an edit only, since a copy has thousands', () => {
    const lines = (count: number) =>
      Array.from({ length: count }, (_, n) => `const value${n} = left + right`)
    const afterLines = (count: number) => {
      const hidden = [...lines(count), HIDDEN].join('\n')
      const copy = result({ tool: 'Grep', args: {}, text: `sum.ts\n${lines(count).join('\n')}` })
      return needsOf([result({ text: hidden }), copy, edit(hidden)])
    }
    expect(afterLines(99)).toEqual([[0, 2]])
    expect(afterLines(100)).toEqual([])
    expect(afterLines(20_000)).toEqual([])
  })

  it('finds none in a result that is whole', () => {
    expect(needsOfPlayed([result(), edit(HIDDEN)], [played(), played()])).toEqual([])
  })
})

describe('quotedLines', () => {
  it.each([
    ['Edit', { old_string: 'a\n  b' }],
    ['MultiEdit', { edits: [{ old_string: 'a' }, { old_string: 'b' }] }],
    ['oldText', { oldText: 'a\nb' }],
    ['a patch', { input: '*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+c\n*** End Patch' }],
    ['a command', { command: ['apply_patch', '*** Begin Patch\n@@\n-a\n b\n*** End Patch'] }],
    ['a diff', { patch: 'diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n b\n' }],
  ])('reads %s', (_, args) => {
    expect(quotedLines(args)).toEqual(['a', 'b'])
  })

  it.each([undefined, null, 'text', 7, { command: 'ls -l' }, { content: 'a - b' }])(
    'reads none in %j',
    args => {
      expect(quotedLines(args)).toEqual([])
    },
  )

  it('ends in arguments that are nested deeply', () => {
    let args: unknown = { old_string: 'a' }
    for (let depth = 0; depth < 10_000; depth++) args = [args]
    expect(quotedLines(args)).toEqual([])
  })
})
