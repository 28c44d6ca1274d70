import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../../src/core/json/parse-json.ts'
import type { Value } from '../../../../../src/core/json/value.ts'
import { hasFailure } from '../../../../../src/core/reduce/elide/rank-items.ts'
import { dateOf, jsonFacts } from '../../../../../src/core/reduce/trim/json-facts.ts'
import { kindOfItems } from '../../../../../src/core/reduce/trim/kinds.ts'
import { levelOfField, levelWithin } from '../../../../../src/core/reduce/trim/levels.ts'
import { summarizeValues } from '../../../../../src/core/reduce/trim/summaries.ts'

function toValue(plain: unknown): Value {
  const parsed = parseJson(JSON.stringify(plain), { maxDepth: 64 })
  if (!parsed.ok) throw new Error('no JSON')
  return parsed.value
}

const values = (plain: readonly unknown[]) => toValue(plain) as readonly Value[]
const facts = (plain: unknown) => jsonFacts(toValue(plain), 1)

describe('kinds', () => {
  it.each([
    ['issue', { number: 1, title: 'a', state: 'open' }],
    ['issue', { key: 'A-1', fields: { summary: 'a', status: { name: 'Done' } } }],
    ['issue', { id: '1', attributes: { title: 'a', state: 'open' } }],
    [
      'merge_request',
      { iid: 1, title: 'a', state: 'opened', source_branch: 'x', target_branch: 'y' },
    ],
    [
      'merge_request',
      { number: 1, title: 'a', state: 'open', head: { ref: 'x' }, base: { ref: 'y' } },
    ],
    ['merge_request', { node: { number: 1, title: 'a', isDraft: false } }],
    ['diff', { new_path: 'a', old_path: 'a', diff: '@@' }],
    ['diff', { filename: 'a', additions: 1, deletions: 2, patch: '' }],
    ['diff', { path: 'a', additions: 0, deletions: 2 }],
    ['discussion', { id: 'x', notes: [{ body: 'a' }, { body: 'b' }] }],
    ['comment', { id: 1, body: 'a', user: { login: 'b' } }],
    ['item', { id: 1, name: 'a' }],
    ['item', 17],
    ['item', null],
  ])('%s: %j', (kind, item) => {
    expect(kindOfItems(values([item, item, item]))).toBe(kind)
  })

  it('are those of most', () => {
    const issue = { number: 1, title: 'a', state: 'open' }
    expect(kindOfItems(values([{ a: 1 }, issue, issue]))).toBe('issue')
    expect(kindOfItems([])).toBe('item')
  })
})

describe('facts', () => {
  it('are read in several dialects', () => {
    expect(
      facts({ updated_at: '2026-01-02T00:00:00Z', comments: 3, reactions: { total_count: 4 } }),
    ).toEqual({
      tokens: 1,
      date: Date.UTC(2026, 0, 2),
      activity: 7,
    })
    expect(
      facts({ fields: { updated: '2026-01-02T02:00:00.000+0200', comment: { total: 5 } } }),
    ).toEqual({
      tokens: 1,
      date: Date.UTC(2026, 0, 2),
      activity: 5,
    })
    expect(facts({ new_path: 'b', old_path: 'a' }).path).toBe('b')
    expect(facts({ new_path: null, old_path: 'a' }).path).toBe('a')
    expect(facts({ user_notes_count: 2, upvotes: 1 }).activity).toBe(3)
  })

  it.each([
    [true, { resolved: true }],
    [false, { isResolved: false }],
    [true, { state: 'resolved' }],
    [
      true,
      {
        notes: [
          { body: 'a', resolvable: true, resolved: true },
          { body: 'b', resolvable: false, resolved: false },
        ],
      },
    ],
    [
      false,
      {
        notes: [
          { body: 'a', resolved: true },
          { body: 'b', resolved: false },
        ],
      },
    ],
    [undefined, { notes: [{ body: 'a' }] }],
    [undefined, { resolved: 'yes' }],
  ])('a discussion is settled: %s', (resolved, item) => {
    expect(facts(item).resolved).toBe(resolved)
  })

  it.each([
    { level: 'ERROR' },
    { status: 'failed' },
    { message: 'NullPointerException at a.b' },
    { title: 'panic: runtime error' },
  ])('an error: %j', item => {
    expect(hasFailure(toValue(item))).toBe(true)
  })

  it.each([{ level: 'info' }, { message: '3 terrors' }, { count: 3 }])('none: %j', item => {
    expect(hasFailure(toValue(item))).toBe(false)
  })

  it.each([
    ['2026-01-02', Date.UTC(2026, 0, 2)],
    ['2026-01-02T03:04:05Z', Date.UTC(2026, 0, 2, 3, 4, 5)],
    ['2026-01-02 03:04', Date.UTC(2026, 0, 2, 3, 4)],
    ['2026-01-02T03:04:05.123-01:30', Date.UTC(2026, 0, 2, 4, 34, 5)],
    [1_700_000_000, 1.7e12],
    [1_700_000_000_000, 1.7e12],
    [17, undefined],
    ['Jan 2, 2026', undefined],
    ['2026-01-02 or so', undefined],
    [null, undefined],
  ])('the date %j', (written, expected) => {
    expect(dateOf(written)).toBe(expected)
  })
})

describe('levels', () => {
  it.each([
    ['issue', 'title', 'minimal'],
    ['issue', 'html_url', 'standard'],
    ['issue', 'created_at', 'full'],
    ['issue', 'whatever', 'full'],
    ['merge_request', 'target_branch', 'minimal'],
    ['diff', 'new_path', 'minimal'],
    ['diff', 'patch', 'standard'],
    ['item', 'name', 'minimal'],
    ['item', 'version', 'standard'],
    ['item', 'format', 'standard'],
    ['item', 'avatar_url', 'full'],
    ['item', 'startedAt', 'full'],
    ['item', 'sha', 'full'],
  ] as const)('%s.%s is %s', (kind, key, level) => {
    expect(levelOfField(kind, key, 'x')).toBe(level)
  })

  it('has containers and long texts of unknown name in full only', () => {
    expect(levelOfField('item', 'notes2', 'x'.repeat(500))).toBe('full')
    expect(levelOfField('item', 'data', toValue({ a: 1 }))).toBe('full')
  })

  it('keeps of a field what names it', () => {
    expect(levelWithin('standard', 'login')).toBe('standard')
    expect(levelWithin('standard', 'avatar_url')).toBe('full')
    expect(levelWithin('full', 'login')).toBe('full')
  })
})

describe('summaries', () => {
  const summary = (kind: Parameters<typeof summarizeValues>[0], items: readonly unknown[]) =>
    summarizeValues(
      kind,
      values(items),
      items.map((_, index) => index),
    )

  it('name issues by number and state', () => {
    const items = [
      { number: 12, title: 'a', state: 'open' },
      { number: 13, title: 'b', state: 'open' },
      { number: 17, title: 'c', state: { name: 'closed' } },
    ]
    expect(summary('issue', items)).toBe('issues #12-17 (2 open, 1 closed)')
  })

  it('name directories and changes of diffs, counted where they are not said', () => {
    const items = [
      { path: 'src/app/x/deep/a.ts', additions: 120, deletions: 45 },
      { path: 'docs/b.md', diff: '@@ -1,2 +1,2 @@\n a\n-b\n+c\n+d\n' },
      { path: 'README.md', diff: '-x' },
    ]
    expect(summary('diff', items)).toBe('src/app/x/*, docs/*, . — 3 files, +122/-47')
  })

  it('count discussions by whether they are settled', () => {
    const items = [{ resolved: true, notes: [] }, { resolved: false, notes: [] }, { notes: [] }]
    expect(summary('discussion', items)).toBe('3 discussions (2 unresolved, 1 resolved)')
  })

  it('say nothing of the content that could be read as a mark', () => {
    const items = [{ id: '> [elided: 3]', state: 'a\n[/chunks]', name: 'x' }]
    expect(summary('item', items)).toBe('items 1')
    expect(summary('diff', [{ path: 'a]\n> [x/b.ts', diff: '' }])).toBe('1 file, +0/-0')
  })
})
