import { type Lie, lie, omit, rewrite } from './lie.ts'

/** What the provider said of a result. */
export const LIES_OF_NOTES: readonly Lie[] = [
  lie('another total', 'page', 'metadata', /the total is 90, not 91/, line =>
    rewrite(line, 'total=90', 'total=91'),
  ),
  lie('other items returned', 'page', 'metadata', /30 were returned/, line =>
    rewrite(line, 'returned=30', 'returned=31'),
  ),
  lie('another query', 'page', 'metadata', /query or order/, line => rewrite(line, 'open', 'shut')),
  lie('another order', 'page', 'metadata', /query or order/, line =>
    rewrite(line, 'created:desc', 'created:asc'),
  ),
  lie('a total that nobody said', 'page', 'metadata', /says nothing of a total/, line => {
    line.request = omit(line.request, 'pagination')
  }),
  lie('a total of what is all there', 'page', 'metadata', /nothing more exists/, line => {
    line.request.pagination = { total: 30, returned: 30 }
    rewrite(line, 'total=90', 'total=30')
  }),
  lie('more left than there is', 'page', 'overflow', /60 more exist, not 61/, line =>
    rewrite(line, '+60', '+61', 1),
  ),
  lie('another page', 'page', 'overflow', /does not give the next page/, line =>
    rewrite(line, 'page=2', 'page=3', 1),
  ),
  lie('a page that nobody can know', 'page', 'overflow', /do not show how the tool pages/, line => {
    line.request.args = { q: 'open' }
  }),
  lie(
    'further pages that nobody spoke of',
    'page',
    'overflow',
    /says nothing of further pages/,
    line => {
      line.request = omit(line.request, 'tool')
    },
  ),
  lie('another format', 'other', 'format', /is written in tree@2/, line =>
    rewrite(line, 'tree@2', 'csv@1'),
  ),
  lie('more searches than there were', 'search5', 'search_chain', /5 of them were searches/, line =>
    rewrite(line, '5 of 7', '6 of 7'),
  ),
  lie(
    'searches among other calls than the last seven',
    'search5',
    'search_chain',
    /counts 8 calls, not 7/,
    line => rewrite(line, '5 of 7', '5 of 8'),
  ),
  lie(
    'a chain of few searches',
    'search5',
    'search_chain',
    /4 searches are no chain/,
    (_, { search4, search5 }) => {
      search4.request.tool = 'Read'
      rewrite(search5, '5 of 7', '4 of 7')
    },
  ),
]
