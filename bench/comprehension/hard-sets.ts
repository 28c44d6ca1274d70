import { createRandom, type Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { DataSet } from './data-sets.ts'

type Row = Record<string, Json>

const WORDS = 'amber basil cedar delta ember fjord grove heath inlet juniper kelp larch'.split(' ')
const pick = (random: Random) => WORDS[random(WORDS.length)]!

/** Columns of the wide rows: more than a reader sees at once. */
export const WIDE_COLUMNS: readonly string[] = Array.from(
  { length: 44 },
  (_, at) => `${WORDS[at % WORDS.length]}_${1 + Math.floor(at / WORDS.length)}`,
)
/** Members that a row with gaps may have. */
export const GAP_COLUMNS: readonly string[] = WORDS.map(word => `${word}_at`)

/**
 * What readers find hard: wide rows, gaps, positions, deep lookups, and texts for terminals.
 */
export function hardSets(): DataSet[] {
  return [
    { name: 'wide rows', kind: 'flat', data: wideRows() },
    { name: 'rows with gaps', kind: 'flat', data: rowsWithGaps() },
    { name: 'long list', kind: 'flat', data: longList() },
    { name: 'departments', kind: 'deep', data: departments() },
    longFile(),
    testRun(),
  ]
}

function wideRows(): Json {
  const random = createRandom(211)
  return Array.from({ length: 16 }, (_, at) => {
    const row: Row = { id: `W-${300 + at}` }
    for (const name of WIDE_COLUMNS) row[name] = random(3) === 0 ? pick(random) : random(900)
    return row
  })
}

function rowsWithGaps(): Json {
  const random = createRandom(223)
  return Array.from({ length: 36 }, (_, at) => {
    const row: Row = { id: `G-${500 + at}` }
    for (const name of GAP_COLUMNS) {
      const kind = random(8)
      if (kind < 3) row[name] = 10 + random(90)
      else if (kind === 3) row[name] = null
      else if (kind === 4) row[name] = ''
    }
    row['state'] = ['open', 'done'][random(2)]!
    return row
  })
}

function longList(): Json {
  const random = createRandom(227)
  return Array.from({ length: 130 }, () => ({
    host: `${pick(random)}-${100 + random(900)}`,
    load: random(1000) / 10,
    zone: ['north', 'south', 'west'][random(3)]!,
    healthy: random(5) > 0,
    owner: `${pick(random)} ${pick(random)}`,
  }))
}

function departments(): Json {
  const random = createRandom(229)
  const person = (): Json => ({
    name: `${pick(random)} ${String.fromCharCode(65 + random(26))}.`,
    desk: { floor: 1 + random(9), number: 100 + random(90) },
    skills: WORDS.filter(() => random(5) === 0),
  })
  const team = (): Json => ({ lead: person(), budget: 1000 + random(9000), size: 1 + random(20) })
  return Object.fromEntries(
    ['optics', 'acoustics', 'fluids', 'solids', 'plasma'].map(name => [
      name,
      { head: person(), teams: { early: team(), late: team(), night: team() } },
    ]),
  )
}

/** A long file as an editor shows it. */
function longFile(): DataSet {
  const random = createRandom(233)
  const data = Array.from({ length: 240 }, (_, at) => ({
    line: 61 + at,
    text: at % 9 === 8 ? '' : `  ${pick(random)}.${pick(random)}(${random(9000)})`,
  }))
  const text = data.map(({ line, text }) => `${String(line).padStart(6)}→${text}`).join('\n')
  return { name: 'long file', kind: 'text', data, text }
}

/** A test run in colours, with a progress bar above it. */
function testRun(): DataSet {
  const random = createRandom(251)
  const results = Array.from({ length: 24 }, (_, at) => ({
    passed: random(6) > 0,
    file: `test/${pick(random)}-${at}.test.ts`,
    count: 1 + random(40),
    ms: 10 + random(900),
  }))
  const plain = results.map(({ passed, file, count, ms }) => {
    return ` ${passed ? '✓' : '✗'} ${file} (${count} tests) ${ms} ms`
  })
  const coloured = results.map(({ passed, file, count, ms }) => {
    const mark = passed ? '\u001b[32m✓\u001b[39m' : '\u001b[31m✗\u001b[39m'
    return ` ${mark} ${file} \u001b[2m(${count} tests)\u001b[22m \u001b[33m${ms} ms\u001b[39m`
  })
  const bar = Array.from({ length: 9 }, (_, at) => `Collecting ${at * 12}%`)
  const text = [bar.join('\r'), ...coloured, ''].join('\n')
  return {
    name: 'test run',
    kind: 'text',
    data: [bar.at(-1)!, ...plain, ''],
    text,
    formats: ['terminal'],
  }
}
