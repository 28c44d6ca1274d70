import { describe, expect, test } from 'vitest'
import { nextPageCall, type Pagination } from '../../../../src/core/hints/next-page-call.ts'

type Case = [what: string, args: unknown, pagination: Pagination, next: unknown]

describe('the next page', () => {
  test.each<Case>([
    ['page from 0 or 1', { page: 2, per_page: 20 }, { total: 200, returned: 20 }, { page: 3 }],
    [
      'page, by offset',
      { page: 1, perPage: 20 },
      { total: 40, returned: 20, offset: 0 },
      { page: 2 },
    ],
    [
      'page from 0, by offset',
      { page: 0, limit: 20 },
      { total: 40, returned: 20, offset: 0 },
      { page: 1 },
    ],
    ['page, by the next one', { page: 1 }, { total: 40, returned: 20, next: 2 }, { page: 2 }],
    [
      'page, by the next one as text',
      { page: 1 },
      { total: 40, returned: 20, next: '2' },
      { page: 2 },
    ],
    ['offset', { offset: 40, limit: 20 }, { total: 200, returned: 20 }, { offset: 60 }],
    [
      'offset, as the provider says',
      { offset: 40 },
      { total: 200, returned: 17, offset: 40 },
      { offset: 57 },
    ],
    [
      'start from 1',
      { start: 1, count: 10 },
      { total: 30, returned: 10, offset: 0 },
      { start: 11 },
    ],
    [
      'startAt',
      { startAt: 0, maxResults: 10 },
      { total: 30, returned: 10, offset: 0 },
      { startAt: 10 },
    ],
    ['cursor', { cursor: 'a', limit: 5 }, { total: 30, returned: 5, next: 'b' }, { cursor: 'b' }],
    [
      'cursor that was null',
      { page_token: null },
      { total: 30, returned: 5, next: 'b' },
      { page_token: 'b' },
    ],
    [
      'cursor that is a number',
      { cursor: 5 },
      { total: 30, returned: 5, next: 10 },
      { cursor: 10 },
    ],
  ])('%s', (_, args, pagination, next) => {
    const given = args as Record<string, unknown>
    const found = nextPageCall('list', { ...given, q: 'x' }, pagination)
    const call = { name: 'list', args: { ...given, q: 'x', ...(next as object) } }
    expect(found).toStrictEqual({ call, changed: Object.keys(next as object) })
  })

  test('with nothing but the page, the call is whole', () => {
    const call = { name: 'list', args: { page: 3 } }
    expect(
      nextPageCall('list', { page: 2 }, { total: 200, returned: 20, offset: 20 }),
    ).toStrictEqual({ call })
  })
})

describe('no call where anything is in doubt', () => {
  test.each<Case>([
    ['no arguments', undefined, { total: 40, returned: 20, next: 2 }, null],
    ['a list of arguments', [1], { total: 40, returned: 20, next: 2 }, null],
    ['nothing that pages', { q: 'x' }, { total: 40, returned: 20, next: 'b' }, null],
    ['a page that was not asked for', { per_page: 20 }, { total: 40, returned: 20 }, null],
    ['the last page', { page: 2, per_page: 20 }, { total: 40, returned: 20, offset: 20 }, null],
    [
      'the last page, if pages count from 0',
      { page: 1, per_page: 20 },
      { total: 40, returned: 20 },
      null,
    ],
    ['an empty page', { offset: 40, limit: 20 }, { total: 200, returned: 0 }, null],
    ['a short page', { offset: 0, limit: 20 }, { total: 200, returned: 17 }, null],
    [
      'an offset that is none of ours',
      { offset: 40, limit: 20 },
      { total: 200, returned: 20, offset: 2 },
      null,
    ],
    ['an offset beyond the end', { offset: 180, limit: 20 }, { total: 200, returned: 20 }, null],
    ['an offset without anything to compare', { offset: 40 }, { total: 200, returned: 20 }, null],
    [
      'start without anything to compare',
      { start: 0, count: 10 },
      { total: 30, returned: 10 },
      null,
    ],
    [
      'a page that does not fit the offset',
      { page: 2, per_page: 20 },
      { total: 200, returned: 20, offset: 100 },
      null,
    ],
    [
      'a next page that is another',
      { page: 2, per_page: 20 },
      { total: 200, returned: 20, next: 7 },
      null,
    ],
    [
      'a next page that is a cursor',
      { page: 2, per_page: 20 },
      { total: 200, returned: 20, next: 'b' },
      null,
    ],
    ['the same cursor again', { cursor: 'a' }, { total: 30, returned: 5, next: 'a' }, null],
    ['a cursor of another type', { cursor: 'a' }, { total: 30, returned: 5, next: 10 }, null],
    [
      'an address for a cursor',
      { cursor: 'a' },
      { total: 30, returned: 5, next: 'https://x/?cursor=b' },
      null,
    ],
    ['no cursor', { cursor: 'a' }, { total: 30, returned: 5 }, null],
    [
      'two ways to page',
      { page: 2, offset: 20, limit: 20 },
      { total: 200, returned: 20, offset: 20 },
      null,
    ],
    ['a page in text', { page: '2', per_page: 20 }, { total: 200, returned: 20 }, null],
    ['a negative page', { page: -1, per_page: 20 }, { total: 200, returned: 20, next: 0 }, null],
    [
      'a rounded id beside',
      { page: 2, per_page: 20, id: 2 ** 60 },
      { total: 200, returned: 20 },
      null,
    ],
  ])('%s', (_, args, pagination, next) => {
    expect(nextPageCall('list', args, pagination)).toBe(next)
  })
})
