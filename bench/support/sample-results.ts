import { createRandom } from '../../src/lab/bill/statistics.ts'

const WORDS =
  'deploy queue retry login cache index merge branch review release config token parser worker latency budget session gateway order invoice account region shard replica'.split(
    ' ',
  )

function phrase(random: (below: number) => number, words: number): string {
  return Array.from({ length: words }, () => WORDS[random(WORDS.length)]).join(' ')
}

function record(random: (below: number) => number, id: number) {
  return {
    id,
    title: phrase(random, 4),
    state: ['open', 'closed', 'merged'][random(3)],
    assignee: random(3) === 0 ? null : `user${random(40)}`,
    comments: random(30),
    score: random(1000) / 10,
    created_at: new Date(1.7e12 + random(1e9) * 1000).toISOString(),
  }
}

/** JSON text of about `bytes` bytes: an array of records, indented as most tools answer. */
export function recordsOf(bytes: number, seed: number): string {
  const random = createRandom(seed)
  const rows: object[] = []
  let length = 0
  while (length < bytes) {
    const row = record(random, rows.length + 1)
    length += JSON.stringify(row, null, 2).length + 20
    rows.push(row)
  }
  return JSON.stringify(rows, null, 2)
}
