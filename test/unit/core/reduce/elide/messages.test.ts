import { describe, expect, it } from 'vitest'
import { isMessage } from '../../../../../src/core/reduce/elide/messages.ts'
import { BULK } from '../../../../../src/core/reduce/elide/reducer.ts'
import { rankText } from '../../../../../src/core/reduce/elide/text-reducers.ts'

describe('a message', () => {
  it.each([
    'the lease of the node went away',
    '2024-03-01T10:00:00Z db-7 lost quorum of the ring',
    '+++ /mount does not answer: giving up on it',
    'соединение с узлом потеряно',
    'die Verbindung ist getrennt.',
    '10:00:01 接続が切断されました',
  ])('is one: %s', line => expect(isMessage(line)).toBe(true))

  it.each([
    '',
    '   ',
    'test_sympify_float ok',
    "++ ask_conda='PS1='",
    'a b c d',
    'index a3f1ce2851..73434cb727 100644',
    'drwxr-xr-x 2 me staff 64 Jan 7 10:29 src',
    `${'x1'.repeat(40)} took so long`,
    '──── ──── ────',
    '→ → → ✓',
  ])('is none: %s', line => expect(isMessage(line)).toBe(false))

  it('is looked for in the first characters of a line', () => {
    expect(isMessage(`${'x1 '.repeat(200)}the lease went away`)).toBe(false)
    expect(isMessage('word '.repeat(1e6))).toBe(true)
  })
})

describe('a log in which most lines are of statements that printed nothing else', () => {
  /** Names without digits, so that each line is of a template of its own. */
  const name = (at: number) => [...String(at)].map(digit => 'qwertyuiop'[Number(digit)]).join('')
  const built = Array.from({ length: 300 }, (_, at) => `+ ${name(at)}/${name(at * 7)}=${name(at)}`)
  const kept = (lines: readonly string[]) => {
    const ranked = rankText(lines.join('\n'))
    expect(ranked?.kind).toBe('log')
    return lines.filter((_, at) => ranked!.ranks[at] !== BULK)
  }

  it('shows those that read as messages', () => {
    const lines = [...built]
    lines[90] = '+ gave up its lease on the ring'
    lines[91] = 'wextri fell behind by too much'
    const left = kept(lines)
    expect(left).toContain(lines[90])
    expect(left).toContain(lines[91])
    expect(left.length).toBeLessThan(20)
  })

  it('shows one statement up to four times', () => {
    const lines = [...built]
    for (const at of [40, 80, 120, 160]) lines[at] = `no route to the host ${at}`
    expect(kept(lines).filter(line => line.startsWith('no route'))).toHaveLength(4)
    lines[200] = 'no route to the host 200'
    expect(kept(lines).filter(line => line.startsWith('no route')).length).toBeLessThan(4)
  })

  it('does not show all of them if they are what it consists of', () => {
    const lines = built.map((line, at) =>
      at % 3 === 0 ? `${name(at * 3)} came with ${name(at)}` : line,
    )
    expect(kept(lines).length).toBeLessThan(40)
  })
})
