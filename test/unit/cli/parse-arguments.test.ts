import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { UsageError } from '../../../src/console/command.ts'
import { ownArguments, parseArguments } from '../../../src/console/parse-arguments.ts'
import { captureCli } from '../../support/capture.ts'

const command = {
  maxOperands: 2,
  options: {
    file: { type: 'string', value: 'FILE', help: 'A file' },
    json: { type: 'boolean', help: 'As JSON' },
  },
} as const
const parse = (...args: string[]) => parseArguments(command, args)

describe('arguments', () => {
  it('are options anywhere before --, and operands', () => {
    const all = parse('a', '--json', '--file', 'x', '--', '--json')
    expect(all.values).toEqual({ json: true, file: 'x' })
    expect(all.operands).toEqual(['a', '--json'])
    expect(parse('--file=--json').values).toEqual({ file: '--json' })
    expect(parse('--file', '-').values).toEqual({ file: '-' })
    expect(parse('--file=').values).toEqual({ file: '' })
  })

  it.each([
    [['--fil', 'x'], 'no option --fil; did you mean --file?'],
    [['--fast'], 'no option --fast'],
    [['--jsn'], 'no option --jsn; did you mean --json?'],
    [['--constructor'], 'no option --constructor'],
    [['--__proto__=1'], 'no option --__proto__'],
    [['-x'], 'no option -x'],
    [['--file'], '--file takes FILE'],
    [['--file', '--json'], '--file takes FILE, not --json'],
    [['--json=1'], '--json takes no text'],
    [['--no-json'], 'no option --no-json'],
    [['a', 'b', 'c', 'd'], 'too many operands: c d'],
  ])('%j: %s', (args, message) => {
    expect(() => parse(...args)).toThrow(new UsageError(message))
  })
})

describe('arguments of a command that runs another one', () => {
  const run = { ...command, maxOperands: 9, endsWithOperands: true } as const
  it.each([
    [['a', '--json', '-p'], {}, ['a', '--json', '-p'], []],
    [['--json', 'a', '--file', 'x'], { json: true }, ['a', '--file', 'x'], ['--json']],
    [['--file', 'x', 'a', '--help'], { file: 'x' }, ['a', '--help'], ['--file', 'x']],
    [['--json', '--', 'a', '--', 'b'], { json: true }, ['a', '--', 'b'], ['--json']],
    [['a', '--', '--json'], {}, ['a', '--', '--json'], []],
    [['--', '--help'], {}, ['--help'], []],
    [['--json'], { json: true }, [], ['--json']],
  ])('%j', (args, values, operands, own) => {
    expect(parseArguments(run, args)).toEqual({ values, operands })
    expect(ownArguments(run, args)).toEqual(own)
  })

  it('are refused if an option before them does not exist', () => {
    expect(() => parseArguments(run, ['--jsn', 'a'])).toThrow('did you mean --json?')
  })
})

describe('the examples of a command', () => {
  it.each(Object.keys(COMMANDS))('%s are calls of it, with options that it has', async name => {
    const { stdout } = await captureCli('help', name)
    const [, examples = ''] = stdout.split(/^Examples?:$/m)
    const lines = examples.trim().split('\n')
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) {
      const [program, called, ...args] = line.trim().split(' ')
      expect([program, called]).toEqual(['haversack', name])
      const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args
      for (const option of own.filter(each => each.startsWith('--'))) {
        expect(stdout).toContain(`  ${option}`)
      }
    }
  })
})
