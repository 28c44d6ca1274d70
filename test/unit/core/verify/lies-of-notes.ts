import { type Lie, omit, rewrite } from './lie.ts'

/** What the provider said of a result. */
export const LIES_OF_NOTES: readonly Lie[] = [
  [
    'another total',
    'page',
    ({ page }) => rewrite(page, 'total=90', 'total=91'),
    'metadata',
    /the total is 90, not 91/,
  ],
  [
    'other items returned',
    'page',
    ({ page }) => rewrite(page, 'returned=30', 'returned=31'),
    'metadata',
    /30 were returned/,
  ],
  [
    'another query',
    'page',
    ({ page }) => rewrite(page, 'open', 'shut'),
    'metadata',
    /query or order/,
  ],
  [
    'another order',
    'page',
    ({ page }) => rewrite(page, 'created:desc', 'created:asc'),
    'metadata',
    /query or order/,
  ],
  [
    'a total that nobody said',
    'page',
    ({ page }) => {
      page.request = omit(page.request, 'pagination')
    },
    'metadata',
    /says nothing of a total/,
  ],
  [
    'a total of what is all there',
    'page',
    ({ page }) => {
      page.request.pagination = { total: 30, returned: 30 }
      rewrite(page, 'total=90', 'total=30')
    },
    'metadata',
    /nothing more exists/,
  ],
  [
    'more left than there is',
    'page',
    ({ page }) => rewrite(page, '+60', '+61', 1),
    'overflow',
    /60 more exist, not 61/,
  ],
  [
    'another page',
    'page',
    ({ page }) => rewrite(page, 'page=2', 'page=3', 1),
    'overflow',
    /does not give the next page/,
  ],
  [
    'a page that nobody can know',
    'page',
    ({ page }) => {
      page.request.args = { q: 'open' }
    },
    'overflow',
    /do not show how the tool pages/,
  ],
  [
    'further pages that nobody spoke of',
    'page',
    ({ page }) => {
      page.request = omit(page.request, 'tool')
    },
    'overflow',
    /says nothing of further pages/,
  ],
  [
    'another format',
    'other',
    ({ other }) => rewrite(other, 'tree@2', 'csv@1'),
    'format',
    /is written in tree@2/,
  ],
  [
    'more searches than there were',
    'search5',
    ({ search5 }) => rewrite(search5, '5 of 7', '6 of 7'),
    'search_chain',
    /5 of them were searches/,
  ],
  [
    'searches among other calls than the last seven',
    'search5',
    ({ search5 }) => rewrite(search5, '5 of 7', '5 of 8'),
    'search_chain',
    /counts 8 calls, not 7/,
  ],
  [
    'a chain of few searches',
    'search5',
    ({ search4, search5 }) => {
      search4.request.tool = 'Read'
      rewrite(search5, '5 of 7', '4 of 7')
    },
    'search_chain',
    /4 searches are no chain/,
  ],
]
