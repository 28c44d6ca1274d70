import { createRandom, type Random } from '../../src/lab/bill/statistics.ts'

/** Tool results of any size, the same in every run. */
interface ResultKind {
  readonly name: string
  /** JSON of about `chars` characters. */
  make(chars: number): string
}

const WORDS =
  'open closed merge build deploy failed retry queue timeout north delta amber copper river stone'.split(
    ' ',
  )

function sentence(random: Random, words: number): string {
  return Array.from({ length: words }, () => WORDS[random(WORDS.length)]!).join(' ')
}

function flatRow(random: Random, id: number) {
  return {
    id,
    name: sentence(random, 2),
    state: WORDS[random(3)]!,
    amount: random(100_000) / 100,
    created_at: `2026-0${1 + random(9)}-1${random(9)}T0${random(9)}:3${random(9)}:00Z`,
    active: random(2) === 0,
  }
}

function nestedRow(random: Random, id: number): object {
  return {
    id: `evt_${id}`,
    user: { id: random(5000), login: `${WORDS[random(WORDS.length)]!}${id}`, site_admin: false },
    labels: Array.from({ length: random(4) }, () => WORDS[random(WORDS.length)]!),
    steps: Array.from({ length: 1 + random(3) }, (_, n) => ({
      n,
      state: WORDS[random(4)]!,
      ms: random(9000),
    })),
    ...(random(3) === 0 ? { error: { message: sentence(random, 4), code: random(500) } } : {}),
    body: `${sentence(random, 12)}\n${sentence(random, 8)}`,
  }
}

/** Objects in objects without any table. */
function section(random: Random, id: number): object {
  return {
    [`section ${id}`]: {
      title: sentence(random, 4),
      [`${WORDS[random(WORDS.length)]!}_${id}`]: { on: random(2) === 0, limit: random(1000) },
      [`list_${random(9)}`]: Array.from({ length: 4 }, () => sentence(random, 2)),
      note: sentence(random, 15),
    },
  }
}

function filled<Row extends object>(
  chars: number,
  row: (random: Random, id: number) => Row,
  seed = chars,
): readonly Row[] {
  const random = createRandom(seed)
  const rows: Row[] = []
  for (let length = 0; length < chars; ) {
    const next = row(random, rows.length)
    rows.push(next)
    length += JSON.stringify(next).length
  }
  return rows
}

/** Rows that have about so many characters of JSON, other ones for each seed. */
export const flatRows = (chars: number, seed: number) => filled(chars, flatRow, seed)

/** What indentation makes of them. */
const INDENTED = 1.4

/** A list of rows of about so many characters, indented as most tools answer. */
export function recordsOf(chars: number, seed: number): string {
  return JSON.stringify(flatRows(chars / INDENTED, seed), null, 2)
}

export const generatedResults: readonly ResultKind[] = [
  { name: 'flat rows', make: chars => JSON.stringify({ items: filled(chars, flatRow) }) },
  { name: 'nested rows', make: chars => JSON.stringify({ events: filled(chars, nestedRow) }) },
  {
    name: 'objects',
    make: chars => JSON.stringify(Object.assign({}, ...filled(chars, section))),
  },
]
