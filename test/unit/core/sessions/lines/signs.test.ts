import { describe, expect, it } from 'vitest'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { readReference } from '../../../../../src/core/sessions/lines/reference-line.ts'
import { createContext } from '../../../../support/line-references.ts'
import { FULL_RUNS } from '../../../../support/runs.ts'

const CODE = Array.from(
  { length: 40 },
  (_, i) => `const value${i * 7} = compute(${i}, 'name ${i}')`,
)
const FRESH = Array.from({ length: 6 }, (_, i) => `const fresh${i} = load('file ${i}.json')`)
const numbered = (lines: readonly string[]) =>
  lines.map((line, i) => `${String(i + 1).padStart(6)}→${line}`).join('\n')
const signed = (sign: string, lines: readonly string[]) => lines.map(line => sign + line)

/** Lines 11 to 16 give way to new ones, with three lines of context. */
const DIFF = [
  'diff --git a/a.ts b/a.ts',
  '--- a/a.ts',
  '+++ b/a.ts',
  '@@ -8,12 +8,12 @@ function main() {',
  ...signed(' ', CODE.slice(7, 10)),
  ...signed('-', CODE.slice(10, 16)),
  ...signed('+', FRESH),
  ...signed(' ', CODE.slice(16, 19)),
]

describe('references between diffs and other texts', () => {
  it('shows a diff of lines that were read and written, with their signs', () => {
    const context = createContext()
    const read = context.keep(numbered(CODE), { tool: 'Read', argument: 'a.ts' })
    const wrote = context.keep(FRESH.join('\n'), { tool: 'Edit.new_string', calls_ago: 1 })
    const answer = context.refer(DIFF.join('\n'))!
    expect(answer.split('\n')).toEqual([
      ...DIFF.slice(0, 4),
      `> [ref ${read} lines 8-16 of Read(a.ts)] signs =3 -6`,
      `> [ref ${wrote} lines 1-6 of Edit.new_string 1 call ago] signs +6`,
      `> [ref ${read} lines 17-19] signs =3`,
    ])
    expect(context.restore(answer)).toBe(DIFF.join('\n'))
  })

  it('shows lines of a diff without signs when they are read, with numbers and without', () => {
    const context = createContext()
    const ref = context.keep(DIFF.join('\n'), { tool: 'Bash', calls_ago: 1 })
    const plain = ['first', ...FRESH, 'last'].join('\n')
    expect(context.refer(plain)).toBe(
      `first\n> [ref ${ref} lines 14-19 of Bash 1 call ago] without signs\nlast`,
    )
    const read = numbered(['first', ...FRESH, 'last'])
    expect(context.refer(read)?.split('\n')[1]).toBe(
      `> [ref ${ref} lines 14-19 of Bash 1 call ago] numbered on without signs`,
    )
    for (const text of [plain, read]) expect(context.restore(context.refer(text)!)).toBe(text)
  })

  it('shows the end of a diff that was shown whole, although no header tells its signs', () => {
    const context = createContext()
    const ref = context.keep(DIFF.join('\n'))
    const tail = [...signed('-', CODE.slice(12, 16)), ...signed('+', FRESH)].join('\n')
    const answer = context.refer(tail)!
    expect(answer).toBe(`> [ref ${ref} lines 10-19]`)
    expect(context.restore(answer)).toBe(tail)
  })

  it('finds list items that begin like signs, in a diff and without one', () => {
    const context = createContext()
    const items = Array.from({ length: 8 }, (_, i) => `- item ${i * 7919} of a long list of things`)
    const ref = context.keep(items.join('\n'))
    const diff = ['@@ -0,0 +1,8 @@', ...signed('+', items)].join('\n')
    const answer = context.refer(diff)!
    expect(answer.split('\n')[1]).toBe(`> [ref ${ref} lines 1-8] signs +8`)
    expect(context.restore(answer)).toBe(diff)
  })

  it('changes the signs of lines that an earlier diff showed', () => {
    const context = createContext()
    const ref = context.keep(DIFF.join('\n'))
    const later = ['@@ -1,6 +1,9 @@', ...signed(' ', FRESH), ...signed('+', ['x', 'y', 'z'])]
    const answer = context.refer(later.join('\n'))!
    expect(answer.split('\n')[1]).toBe(`> [ref ${ref} lines 14-19] signs =6`)
    expect(context.restore(answer)).toBe(later.join('\n'))
  })

  it('finds what a patch in an argument added', () => {
    const context = createContext()
    const patch = ['*** Begin Patch', '*** Add File: b.ts', ...signed('+', CODE), '*** End Patch']
    const ref = context.keep(patch.join('\n'), { tool: 'apply_patch.input', calls_ago: 1 })
    expect(context.refer(CODE.join('\n'))).toBe(
      `> [ref ${ref} lines 3-42 of apply_patch.input 1 call ago] without signs`,
    )
  })

  it('takes no sign off lines outside of hunks', () => {
    const context = createContext()
    context.keep(signed('+', CODE).join('\n'))
    expect(context.refer(CODE.join('\n'))).toBeNull()
    const after = ['@@ -1 +1 @@', '-a', '+b', ...signed('+', CODE)]
    context.keep(after.join('\n'))
    expect(context.refer(CODE.join('\n'))).toBeNull()
  })

  it.each([
    ['a combined diff', ['@@@ -1,3 -1,3 +1,4 @@@', ...CODE.map(line => `++${line}`)]],
    ['a coloured diff', ['\x1b[36m@@ -1,40 +1,40 @@', ...CODE.map(line => `\x1b[32m+${line}`)]],
    ['CRLF', ['@@ -0,0 +1,40 @@', ...signed('+', CODE)].map(line => `${line}\r`)],
    ['counts that lie', ['@@ -1,4 +1,999999999 @@', ...signed('+', CODE), 'end', ...CODE]],
    ['counts of nothing', ['@@ -0,0 +0,0 @@', ...signed('+', CODE)]],
    ['an octal path', ['+++ "b/\\303\\244.ts"', '@@ -0,0 +1,40 @@', ...signed('+', CODE)]],
    ['a patch without an end', ['*** Begin Patch', ...signed('-', CODE)]],
    ['a binary note', ['Binary files a/x and b/x differ', ...signed(' ', CODE)]],
  ])('restores every byte of %s', (_, lines) => {
    const context = createContext()
    context.keep(numbered(CODE))
    context.keep(CODE.map(line => `${line}\r`).join('\n'))
    for (const text of [lines.join('\n'), CODE.join('\n'), numbered(CODE)]) {
      const answer = context.refer(text)
      if (answer !== null) expect(context.restore(answer)).toBe(text)
      context.keep(text)
    }
  })

  it('refers to a hunk of very many lines', () => {
    const count = FULL_RUNS ? 160_000 : 10_000
    const lines = Array.from({ length: count }, (_, i) => `${i % 3 === 0 ? '+' : ' '}line ${i}`)
    const diff = [`@@ -1,${Math.floor((2 * count) / 3)} +1,${count} @@`, ...lines].join('\n')
    const context = createContext(createBodyMemory({ bytes: 1 << 26 }))
    context.keep(lines.map(line => line.slice(1)).join('\n'))
    const answer = context.refer(diff)
    if (answer !== null) expect(context.restore(answer)).toBe(diff)
  })

  it('stops before a fourth run of signs', () => {
    const context = createContext()
    context.keep(CODE.join('\n'))
    const mixed = CODE.slice(0, 24).map((line, i) => (i % 4 < 2 ? ' ' : '+') + line)
    const later = ['@@ -1,12 +1,24 @@', ...mixed].join('\n')
    const answer = context.refer(later)!
    expect(answer.split('\n')[1]).toMatch(/ signs =2 \+2 =2$/)
    expect(context.restore(answer)).toBe(later)
  })

  it.each([
    ['fewer signs than lines', 'signs +5'],
    ['more signs than lines', 'signs +5 -2'],
    ['a diff that the lines are not', 'without signs'],
  ])('refuses %s', (_, suffix) => {
    const context = createContext()
    const ref = context.keep(CODE.join('\n'))
    expect(() => context.restore(`> [ref ${ref} lines 1-6] ${suffix}`)).toThrow(/signs/)
  })

  it.each(['signs', 'signs +', 'signs +0', 'signs +1 +2', 'signs *1', 'signs +1  -1', 'signs +1 '])(
    'reads no reference with %s',
    suffix => {
      expect(readReference(`> [lines 1-6] ${suffix}`)).toBeNull()
    },
  )
})
