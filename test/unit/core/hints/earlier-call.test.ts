import { describe, expect, test } from 'vitest'
import { decisiveArgument, nameEarlierCall } from '../../../../src/core/hints/earlier-call.ts'

const read = (argument: string) => ({ tool: 'Read', argument })
const bash = (argument: string) => ({ tool: 'Bash', argument })
const OTHERS = Array.from({ length: 9 }, (_, n) => ({ tool: 'other', argument: `x${n}` }))

describe('the argument that a call is known by', () => {
  test.each<[args: unknown, argument: string | undefined]>([
    [{ limit: 5, file_path: '/a/b.ts', q: 'x' }, '/a/b.ts'],
    [{ all: true, id: 7 }, '7'],
    [{ text: ' ', id: 7 }, '7'],
    [{ items: [] }, undefined],
    [{}, undefined],
    [null, undefined],
    ['text', undefined],
    [{ command: 'x'.repeat(600) }, 'x'.repeat(512)],
  ])('%j', (args, argument) => {
    expect(decisiveArgument(args)).toBe(argument)
  })
})

describe('the name of an earlier call', () => {
  test('a short argument is told whole', () => {
    expect(nameEarlierCall([read('a.ts')], 0)).toStrictEqual(read('a.ts'))
  })

  test('a path by its last names, as many as tell it from the others', () => {
    const calls = [read('/code/project/src/index.ts'), read('/code/project/test/index.ts')]
    expect(nameEarlierCall(calls.slice(0, 1), 0)).toStrictEqual({
      tool: 'Read',
      argument: { end: 'index.ts' },
    })
    expect(nameEarlierCall(calls, 0)).toStrictEqual({
      tool: 'Read',
      argument: { end: 'src/index.ts' },
    })
    expect(nameEarlierCall([read('C:\\project\\src\\index.ts')], 0)).toStrictEqual({
      tool: 'Read',
      argument: { end: 'index.ts' },
    })
  })

  test('a path that ends another path is told whole', () => {
    const calls = [read('src/core/index.ts'), read('old/src/core/index.ts')]
    expect(nameEarlierCall(calls, 0)).toStrictEqual({ tool: 'Read', argument: 'src/core/index.ts' })
  })

  test('calls of other tools do not count', () => {
    const calls = [read('/code/project/src/index.ts'), bash('cat /code/project/test/index.ts')]
    expect(nameEarlierCall(calls, 0).argument).toStrictEqual({ end: 'index.ts' })
  })

  test('a command nearby by its distance, a distant one by its first words', () => {
    const calls = [bash('git log --oneline --graph'), bash('git status --short --branch')]
    expect(nameEarlierCall(calls, 0)).toStrictEqual({ tool: 'Bash', calls_ago: 2 })
    expect(nameEarlierCall([...calls, ...OTHERS], 0)).toStrictEqual({
      tool: 'Bash',
      argument: { start: 'git log --oneline' },
    })
  })

  test('with a later twin, the distance is told, with the argument where it is long', () => {
    const calls = [read('a.ts'), ...OTHERS.slice(1), read('a.ts')]
    expect(nameEarlierCall([read('a.ts'), read('a.ts')], 0)).toStrictEqual({
      tool: 'Read',
      calls_ago: 2,
    })
    expect(nameEarlierCall(calls, 0)).toStrictEqual({ ...read('a.ts'), calls_ago: 10 })
    expect(nameEarlierCall(calls, 9)).toStrictEqual(read('a.ts'))
  })

  test('without an argument, the distance', () => {
    expect(nameEarlierCall([{ tool: 'list' }, ...OTHERS], 0)).toStrictEqual({
      tool: 'list',
      calls_ago: 10,
    })
  })

  test('a name of no earlier call is refused', () => {
    expect(() => nameEarlierCall([], 0)).toThrow(RangeError)
  })
})
