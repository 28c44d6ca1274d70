/** Makes tool results that no run has seen, from a seed: records, nested answers, settings, text. */
export interface Sample {
  readonly tool: string
  readonly text: string
}

/** A small linear congruential generator, so that runs compare (Numerical Recipes' constants). */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

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

/** One result of each of a few kinds, about `bytes` bytes each. */
export function samplesOf(bytes: number, seed: number): Sample[] {
  const random = createRandom(seed)
  const items = JSON.parse(recordsOf(bytes, seed + 1))
  const half = items.slice(0, Math.max(1, items.length / 2))
  const settings = Object.fromEntries(
    Array.from({ length: Math.ceil(bytes / 40) }, (_, i) => [`setting_${i}`, phrase(random, 2)]),
  )
  const lines = Array.from(
    { length: Math.ceil(bytes / 60) },
    (_, i) => `${String(i + 1).padStart(6)}\t${phrase(random, 8)}`,
  )
  return [
    { tool: 'list_issues', text: JSON.stringify(items, null, 2) },
    {
      tool: 'get_page',
      text: JSON.stringify({ total: items.length, page: 1, items: half }, null, 2),
    },
    { tool: 'get_settings', text: JSON.stringify(settings, null, 2) },
    { tool: 'Read', text: lines.join('\n') },
  ]
}
