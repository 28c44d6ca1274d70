import { describe, expect, it } from 'vitest'
import { isDerivedFile, viewDiff } from '../../../../../src/core/reduce/elide/view-diff.ts'
import { missingLines } from '../../../../../src/core/verify/missing-lines.ts'
import { FULL_RUNS } from '../../../../support/runs.ts'

const MANY = FULL_RUNS ? 160_000 : 10_000

const header = (path: string) => [
  `diff --git a/${path} b/${path}`,
  'index 1111111..2222222 100644',
  `--- a/${path}`,
  `+++ b/${path}`,
]
/** A hunk with one changed line between lines of context. */
function hunk(start: number, context: number, text = 'value'): string[] {
  const lines = (from: number) =>
    Array.from({ length: context }, (_, at) => `     const ${text} = work(${from + at})`)
  const count = context * 2 + 1
  return [
    `@@ -${start},${count} +${start},${count} @@ function f() {`,
    ...lines(start),
    `-old ${start}`,
    `+new ${start}`,
    ...lines(start + context + 1),
  ]
}
const hunks = (count: number, path = 'src/a.ts') => [
  ...header(path),
  ...Array.from({ length: count }, (_, at) => hunk(1 + at * 20, 3)).flat(),
]

function view(lines: readonly string[], level: 'standard' | 'compact' = 'standard') {
  const seen = viewDiff(lines, level)
  if (seen === null) return null
  const places = seen.omissions.map(({ at }) => at)
  const read = missingLines(lines.join('\n'), seen.text)
  expect(read.map(({ runs }) => runs.map(run => `lines ${run.first}-${run.last}`))).toContainEqual(
    places,
  )
  return seen.text.split('\n')
}

describe('the view of a diff', () => {
  it('leaves out nothing up to its size', () => {
    const small = hunks(21).slice(0, 200)
    expect(small).toHaveLength(193)
    expect(view(small)).toBeNull()
    expect(view(small, 'compact')).not.toBeNull()
    expect(view(hunks(6), 'compact')).toBeNull()
  })

  it('has hunks with one line of context, or none, and says so first', () => {
    const lines = hunks(30)
    expect(view(lines)?.slice(0, 12)).toEqual([
      '[… lines 1-274 with context 1]',
      ...header('src/a.ts'),
      '@@ -3,3 +3,3 @@ function f() {',
      '     const value = work(3)',
      '-old 1',
      '+new 1',
      '     const value = work(5)',
      '@@ -23,3 +23,3 @@ function f() {',
      '     const value = work(23)',
    ])
    expect(view(lines, 'compact')?.slice(4, 10)).toEqual([
      '+++ b/src/a.ts',
      '@@ -4 +4 @@ function f() {',
      '-old 1',
      '+new 1',
      '@@ -24 +24 @@ function f() {',
      '-old 21',
    ])
  })

  it('divides a hunk, and names the line before a side without lines', () => {
    const context = Array.from({ length: 9 }, (_, at) => ` line ${at} of the context`)
    const lines = [
      ...hunks(30),
      ...header('b'),
      '@@ -10,19 +10,19 @@',
      ...context,
      '+added',
      ...context,
      '-gone',
    ]
    expect(view(lines, 'compact')?.slice(-6)).toEqual([
      ...header('b').slice(2),
      '@@ -18,0 +19 @@',
      '+added',
      '@@ -28 +28,0 @@',
      '-gone',
    ])
  })

  it('has one line with counts for a lock file, a deletion, what is vendored', () => {
    for (const path of ['package-lock.json', 'web/vendor/lib.js', 'dist/app.min.js']) {
      const lines = [...hunks(30), ...hunks(2, path)]
      expect(view(lines)?.slice(-5)).toEqual([...header(path), '[… lines 279-296 +2 −2]'])
    }
    const gone = ['--- a/x', '+++ /dev/null', '@@ -1,3 +0,0 @@', '-a', '-b', '-c']
    expect(view([...hunks(30), ...gone])?.slice(-3)).toEqual([
      '--- a/x',
      '+++ /dev/null',
      '[… lines 277-280 +0 −3]',
    ])
  })

  it('knows such files by whole components of their paths', () => {
    for (const path of ['src/clock.ts', 'lock', 'vendors/a.js', 'mypackage-lock.json', 'a.map/b'])
      expect(isDerivedFile(path), path).toBe(false)
    for (const path of ['a/go.sum', 'node_modules/x/y.js', 'a.js.map', 'x_pb2.py', 'Cargo.lock'])
      expect(isDerivedFile(path), path).toBe(true)
  })

  it('shows a moved block once, and its first line where it was', () => {
    const block = Array.from({ length: 8 }, (_, at) => `  return moved(${at}, 'some longer text')`)
    const lines = [
      ...hunks(30),
      ...header('from.ts'),
      '@@ -1,8 +0,0 @@',
      ...block.map(line => `-${line}`),
      ...header('to.ts'),
      '@@ -0,0 +1,8 @@',
      ...block.map(line => `+${line}`),
    ]
    const left = view(lines)!
    expect(left.filter(line => line.startsWith('-  return'))).toEqual([`-${block[0]}`])
    expect(left.filter(line => line.startsWith('+  return'))).toHaveLength(8)
    expect(left).toContain('[… lines 281-287 moved]')
    expect(left).toContain('@@ -1 +0,0 @@')
    const twice = [...lines, ...header('also.ts'), '@@ -1,8 +0,0 @@', ...block.map(at => `-${at}`)]
    expect(view(twice)!.filter(line => line.startsWith('-  return'))).toHaveLength(9)
    lines[lines.length - 1] += ' changed'
    expect(view(lines)!.filter(line => line.startsWith('-  return'))).toHaveLength(8)
  })

  it('outlines a long new file', () => {
    const code = Array.from({ length: 30 }, (_, at) => [
      `export function f${at}(a: number): number {`,
      '  const doubled = a + a',
      '  return doubled * doubled',
      '}',
    ]).flat()
    const lines = [
      ...hunks(20),
      'diff --git a/new.ts b/new.ts',
      'new file mode 100644',
      'index 0000000..3333333',
      '--- /dev/null',
      '+++ b/new.ts',
      `@@ -0,0 +1,${code.length} @@`,
      ...code.map(line => `+${line}`),
    ]
    const left = view(lines)!
    expect(left.filter(line => line.startsWith('+export function'))).toHaveLength(30)
    // Both ends of a file stay.
    expect(left.filter(line => line.startsWith('+  const'))).toHaveLength(1)
    expect(left).toContain('@@ -0,0 +8,2 @@')
  })

  it('leaves hunks whose counts lie, combined, coloured and binary diffs', () => {
    const odd = [
      ...header('lies'),
      '@@ -1,9 +1,2 @@',
      ...Array.from({ length: 5 }, (_, at) => ` context ${at}, which is long enough to go`),
      '-gone',
      ' and once more a line that is long enough',
      ...header('vendor/lies.js'),
      '@@ -1 +1 @@',
      '-a',
      '+b',
      '@@ -5,9 +5,9 @@',
      '-a',
      '+b',
      'diff --cc both',
      '@@@ -1,2 -1,2 +1,3 @@@',
      '  same',
      '++new',
      '\u001b[36m@@ -1,3 +1,3 @@\u001b[m',
      ' a',
      'Binary files a/x.png and b/x.png differ',
    ]
    const left = view([...hunks(30), ...odd])!
    expect(left.slice(-odd.length)).toEqual(odd)
    expect(view(odd.concat(odd, odd, odd, odd), 'compact')).toBeNull()
  })

  it('reads lines that end with a carriage return, and paths in octal', () => {
    const lines = hunks(30).map(line => `${line}\r`)
    const octal = ['--- "a/vendor/\\303\\244.js"', '+++ "b/vendor/\\303\\244.js"']
    const left = view([...lines, ...octal, '@@ -1 +1,2 @@', ' a', '+b'])!
    expect(left.slice(-3)).toEqual([...octal, '[… lines 277-279 +1 −0]'])
    expect(left[5]).toBe('@@ -3,3 +3,3 @@ function f() {\r')
  })

  it('escapes a line that looks like a mark', () => {
    const lines = hunks(30)
    lines[8] = '+[… lines 2-9]'
    expect(view(lines)).toContain('+\\[… lines 2-9]')
  })

  it('takes linear time for a hunk of very many lines', () => {
    const body = Array.from({ length: MANY }, (_, at) =>
      at % 20 === 0 ? '-a\n+b' : ' context that is long enough to be left out',
    )
    const lines = [
      '--- a/x',
      '+++ b/x',
      `@@ -1,${MANY} +1,${MANY} @@`,
      ...body.join('\n').split('\n'),
    ]
    const left = viewDiff(lines, 'compact')
    expect(left?.omissions).toHaveLength(MANY / 20)
  })
})
