import { describe, expect, it } from 'vitest'
import { REQUIRED, readOptions } from '../../../bench/support/options.ts'

const DEFAULTS = {
  json: false,
  rounds: 5,
  only: ['speed', 'parts'],
  dir: '/tmp',
  corpus: '',
} as const

const read = (args: readonly string[], env = {}) => readOptions(DEFAULTS, args, env)

describe('readOptions', () => {
  it('options that are not given have their defaults', () => {
    expect(read([])).toEqual(DEFAULTS)
  })

  it('reads switches, numbers, names and texts', () => {
    const args = '--json --rounds 7 --only parts,speed --dir /data --corpus recorded'.split(' ')
    expect(read(args)).toEqual({
      ...{ json: true, rounds: 7, only: ['parts', 'speed'] },
      ...{ dir: '/data', corpus: 'recorded' },
    })
  })

  it('takes the corpus from the option, the first argument or the environment', () => {
    const env = { HAVERSACK_CORPUS: 'c' }
    expect(read(['b', '--corpus', 'a'], env).corpus).toBe('a')
    expect(read(['b'], env).corpus).toBe('b')
    expect(read([], env).corpus).toBe('c')
    expect(readOptions({ corpus: REQUIRED }, [], env).corpus).toBe('c')
  })

  it.each([
    [['--rounds', 'many'], '--rounds takes a number'],
    [['--rounds='], '--rounds takes a number'],
    [['--only', 'speed,rate'], '--only does not know rate'],
    [['--seconds', '3'], "Unknown option '--seconds'"],
    [['a', 'b'], 'unexpected argument b'],
  ])('refuses %j with the usage', (args, reason) => {
    expect(() => read(args)).toThrow(reason)
    expect(() => read(args)).toThrow(
      / \[--json\] \[--rounds 5\] \[--only speed,parts\] \[--dir TEXT\] \[CORPUS\]$/,
    )
  })

  it('refuses to do without what is required', () => {
    expect(() => readOptions({ corpus: REQUIRED }, [], {})).toThrow('--corpus is required')
  })
})
