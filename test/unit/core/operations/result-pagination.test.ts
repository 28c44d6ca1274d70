import { describe, expect, it } from 'vitest'
import { paginationOf } from '../../../../src/core/operations/result-pagination.ts'

// Contract, section 9: provider pagination.
describe('pages of a result', () => {
  it.each([
    ['{"total":90,"items":[1,2],"next_cursor":"abc"}', { total: 90, returned: 2, next: 'abc' }],
    ['{"total_count":3,"items":[1,2,3]}', { total: 3, returned: 3 }],
    ['{"nextPage":2,"totalCount":50,"issues":[{}]}', { total: 50, returned: 1, next: 2 }],
  ])('are read of %s', (content, pagination) => {
    expect(paginationOf(content)).toEqual({ pagination })
  })

  it.each([
    '[{"total":1}]',
    '{"total":90}',
    '{"total":1,"items":[1,2]}',
    '{"total":1.5,"items":[1]}',
    '{"total":"90","items":[1]}',
    '{"total":9, torn',
    'a text about "total": 9',
  ])('are unknown of %s', content => {
    expect(paginationOf(content)).toEqual({})
  })
})
