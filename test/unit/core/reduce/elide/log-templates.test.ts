import { describe, expect, it } from 'vitest'
import { mineTemplates } from '../../../../../src/core/formats/text/templated/line-templates.ts'
import { boundFloods } from '../../../../../src/core/reduce/elide/bound-floods.ts'
import { BULK } from '../../../../../src/core/reduce/elide/reducer.ts'
import { rankText } from '../../../../../src/core/reduce/elide/text-reducers.ts'

const times = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at))
const all = (lines: readonly string[]) => lines.map((_, at) => at)
function kept(lines: readonly string[]): string[] {
  const ranked = rankText(lines.join('\n'))
  expect(ranked?.kind).toBe('log')
  return lines.filter((_, at) => ranked!.ranks[at] !== BULK)
}

describe('templates of lines', () => {
  it('take words with digits as variable, however many are joined', () => {
    const { ids } = mineTemplates([
      'took 5 ms at 10.0.0.1:80',
      'took 12 ms at 7',
      'took  5 ms   at 10:00:01.123',
      'took long at 7',
      '',
      'took 5 ms at 10.0.0.1:80 in all',
      'took 5 ms at 10.',
    ])
    expect([...ids]).toEqual([0, 0, 0, 1, -1, 2, 3])
  })

  it('count their lines, and words before the first variable one', () => {
    const { facts } = mineTemplates(['disk sda1 is full', 'disk sdb1 is full', '7 ab cd'])
    expect(facts).toMatchObject([
      { first: 0, lines: 2, words: 3, wordsBefore: 1 },
      { first: 2, lines: 1, words: 2, wordsBefore: 0 },
    ])
  })

  it('are of one family if only some words differ', () => {
    const { facts } = mineTemplates([
      '10:00:01 password of root was refused from 1.2.3.4',
      '10:00:02 password of admin was refused from 1.2.3.4',
      '10:00:03 password of anna was refused by 1.2.3.4',
      '10:00:04 session of anna ended without a reason given',
      '10:00:05 password was refused',
    ])
    const [root, admin, anna, session, short] = facts.map(({ family }) => family)
    expect([admin, anna]).toEqual([root, root])
    expect(new Set([root, session, short]).size).toBe(3)
  })

  it('are bounded: of a million, the later ones are not told apart', () => {
    const letters = (n: number) => n.toString(26).replace(/\d/g, digit => 'qrstuvwxyz'[+digit]!)
    const lines = times(66_000, at => `could not load ${letters(at)}`)
    const { ids, facts } = mineTemplates(lines)
    expect(facts).toHaveLength(65_536)
    expect(ids.at(-1)).toBe(-1)
    // A line that cannot be told apart stays.
    expect(boundFloods(lines, { ids, facts }, all(lines))).toHaveLength(66_000)
  })
})

describe('a flood of failures', () => {
  const bounded = (lines: readonly string[]) =>
    boundFloods(lines, mineTemplates(lines), all(lines)).map(at => lines[at])

  it('is shown by its first three lines and its last', () => {
    const lines = times(50, at => `12:00:${at % 60} ERROR disk ${at} is full`)
    expect(bounded(lines)).toEqual([...lines.slice(0, 3), lines[49]])
    expect(bounded(lines.slice(0, 4))).toEqual(lines.slice(0, 4))
  })

  it('a flood of failures has a line of each code', () => {
    const codes = ['TS2345', 'TS2322', 'TS7006', 'TS1005', 'TS18046']
    const lines = times(50, at => `a.ts:${at} error ${codes[at % 5]}: it is wrong`)
    expect(bounded(lines)).toEqual([...lines.slice(0, 5), lines[49]])
  })

  it('has each wording, and of records as many as can be told apart', () => {
    const words = 'ant bee cat dog elk fox gnu hen ibis jay kite lark mole newt owl pig'.split(' ')
    const names = words.flatMap(a => words.map(b => a + b))
    const tests = names.map(name => `FAILED test_${name} because of it`)
    expect(bounded(tests)).toEqual(tests)
    const records = names.map(name => `12:00:00 login of user ${name} failed again today`)
    expect(bounded(records)).toEqual([...records.slice(0, 24), records.at(-1)])
  })

  it('stays small beyond the bound, beside a failure that happened once', () => {
    const lines = times(300, at => `12:00:${10 + (at % 50)} ERROR write of block ${at} failed`)
    lines[150] = '12:00:30 ERROR the lease was lost'
    const left = kept(lines)
    expect(left).toContain(lines[150])
    expect(left.length).toBeLessThan(16)
  })

  it('of JSON lines is bounded as well', () => {
    const lines = times(200, at => JSON.stringify({ level: 'error', id: at, msg: 'disk is full' }))
    lines[99] = JSON.stringify({ level: 'error', id: 99, msg: 'lease was lost' })
    expect(kept(lines)).toEqual(lines)
    const more = [...lines, ...lines]
    const left = kept(more)
    expect(left).toContain(lines[99])
    expect(left.length).toBeLessThan(40)
  })

  it('of equal stack traces shows three and the last, whole', () => {
    const trace = (at: number) => [
      `12:00:${at} INFO block ${at} is read`,
      `java.io.IOException: no block ${at}`,
      '\tat org.store.Disk.read(Disk.java:12)',
      '\tat org.store.Main.run(Main.java:40)',
    ]
    const other = [
      '12:01:00 INFO node 7 is asked',
      'java.io.IOException: no node',
      '\tat org.net.Node.ping(Node.java:7)',
    ]
    const lines = [...Array.from({ length: 60 }, (_, at) => trace(at)).flat(), ...other]
    const left = kept(lines)
    expect(left.slice(0, 12)).toEqual(lines.slice(0, 12))
    expect(left.slice(-7)).toEqual(lines.slice(-7))
    // What failed is said each time, but where only four times.
    expect(left.filter(line => line.startsWith('java.io'))).toHaveLength(61)
    expect(left.filter(line => line.startsWith('\tat '))).toHaveLength(11)
  })
})

describe('a log without known words', () => {
  const statements = [
    (at: number) => `${134_681 + at} node-${at % 90} unix.hw state change seen by the monitor`,
    (at: number) => `${134_681 + at} node-${at % 90} boot command sent to the console`,
    (at: number) => `${134_681 + at} node-${at % 90} link of the ring came up again`,
  ]
  const lines = times(300, at => `10778${10_000 + at} ${statements[at % 3]!(at)}`)

  it('is told by its statements, each shown by its first line', () => {
    const left = kept(lines)
    expect(left.slice(0, 3)).toEqual(lines.slice(0, 3))
    expect(left.length).toBeLessThan(16)
  })

  it('shows a statement that printed one line, however late in a line it differs', () => {
    const far = 'from the service for orders and for payments of the region'
    const logs = times(300, at => `2024-01-01 10:00:${10 + (at % 50)} ${far} came call ${at}`)
    logs[150] = `2024-01-01 10:00:12 ${far} went a lease that nobody holds any more after that`
    const left = kept(logs)
    expect(left).toContain(logs[150])
    expect(left.length).toBeLessThan(16)
  })

  it('is no list of files, of commits, or of numbers', () => {
    const files = (at: number) => `-rw-r--r-- 1 me staff ${at} Jan 7 10:29 2026-01-05-${at}.json`
    const commits = (at: number) => `${(at * 7_919 + 4_096).toString(16)} fix the ${at}th of them`
    const rows = (at: number) => `${1_700_000_000 + at} ${at} ${at * 3} ${at * 7}`
    for (const line of [files, commits, rows]) {
      expect(rankText(times(200, line).join('\n'))?.kind ?? null, line(1)).toBeNull()
    }
  })
})

describe('a run of tests that says how each began and ended', () => {
  const run = times(40, at => `=== RUN   TestHarbour${at}\n--- PASS: TestHarbour${at} (0.00s)`)
    .join('\n')
    .split('\n')

  it('is a log, of which the failed test is left with what it printed', () => {
    const failed = [
      '=== RUN   TestMooring',
      '    mooring_test.go:12: rope is 3 m, want 4 m',
      '--- FAIL: TestMooring (0.01s)',
    ]
    const lines = [...run.slice(0, 50), ...failed, ...run.slice(50), 'exit status 1']
    const left = kept(lines)
    expect(left).toEqual(expect.arrayContaining(failed.slice(1)))
    expect(left.length).toBeLessThan(lines.length / 3)
  })

  it('is one if none failed', () => {
    expect(kept([...run, 'PASS']).length).toBeLessThan(run.length / 3)
  })
})
