import { describe, expect, it } from 'vitest'
import { commandHelp } from '../../../src/cli/run-cli.ts'
import { defineActions, defineCommand, UsageError } from '../../../src/console/command.ts'
import { choice, wholeNumber } from '../../../src/console/options.ts'

const options = {
  level: choice(['low', 'high'], { value: 'LEVEL', help: 'How much' }),
  count: wholeNumber({ value: 'N', help: 'How many', min: 1 }),
  port: wholeNumber({ value: 'PORT', help: 'Where', min: 0, max: 65_535 }),
  name: { type: 'string', value: 'NAME', help: 'Whose' },
  json: { type: 'boolean', help: 'As JSON' },
} as const

describe('defineCommand', () => {
  const seen: unknown[] = []
  const command = defineCommand({
    ...{ name: 'demo', operands: '[FILE]', maxOperands: 1 },
    examples: ['demo a.json'],
    options,
    run(values, operands) {
      seen.push(values, operands)
      return 7
    },
  })

  it('reads the options by their types', async () => {
    const given = { level: 'high', count: '12', port: '0', json: true }
    expect(await command.run(given, ['a'])).toBe(7)
    const values = { level: 'high', count: 12, port: 0, name: undefined, json: true }
    expect(seen).toEqual([values, ['a']])
    seen.length = 0
    await command.run({}, [])
    expect(seen[0]).toEqual({ json: false })
  })

  it.each([
    [{ level: 'middle' }, '--level takes low, high'],
    [{ level: '' }, '--level takes low, high'],
    [{ count: '0' }, '--count takes a whole number from 1 on'],
    [{ count: '01' }, '--count takes a whole number from 1 on'],
    [{ count: '1.5' }, '--count takes a whole number from 1 on'],
    [{ count: '9007199254740993' }, '--count takes a whole number from 1 on'],
    [{ port: '' }, '--port takes a whole number from 0 to 65535'],
    [{ port: '-1' }, '--port takes a whole number from 0 to 65535'],
    [{ port: '65536' }, '--port takes a whole number from 0 to 65535'],
  ])('refuses %j', async (given, message) => {
    await expect(command.run(given, [])).rejects.toThrow(new UsageError(message))
  })
})

describe('defineActions', () => {
  const calls: unknown[] = []
  const command = defineActions({
    name: 'demo',
    examples: ['demo add'],
    options: {
      level: { ...options.level, actions: ['add'] },
      quiet: { type: 'boolean', actions: ['add', 'drop'], help: 'say nothing' },
      name: options.name,
    },
    actions: {
      add: { run: values => calls.push(values) },
      drop: {
        operands: { text: 'ID [MORE]', min: 1, max: 2 },
        run: (values, operands) => calls.push({ ...values, operands }),
      },
    },
  })

  it('derives its operands and its help', () => {
    expect(command).toMatchObject({ operands: 'add | drop ID [MORE]', maxOperands: 3 })
    expect(commandHelp(command).split('\n').slice(4)).toEqual([
      '  --level LEVEL  add: How much',
      '  --quiet        add, drop: say nothing',
      '  --name NAME    Whose',
      '  --help         This page',
      '',
      'Example:',
      '  haversack demo add',
    ])
  })

  it('runs the action with what it reads', async () => {
    await command.run({ level: 'low', name: 'x' }, ['add'])
    await command.run({ level: 'wrong', quiet: true }, ['drop', 'a', 'b'])
    expect(calls).toEqual([
      { level: 'low', quiet: false, name: 'x' },
      { level: undefined, quiet: true, name: undefined, operands: ['a', 'b'] },
    ])
  })

  it.each([[], ['nope'], ['constructor'], ['add', 'x'], ['drop'], ['drop', 'a', 'b', 'c']])(
    'refuses %j',
    async (...operands) => {
      const message = 'demo takes one of add, drop'
      await expect(command.run({}, operands)).rejects.toThrow(new UsageError(message))
    },
  )

  it('reports the one action that there is, or what it is told to', async () => {
    const page = { name: 'demo', examples: ['demo show'], options: {} } as const
    const terms = { ...page, actions: { show: { run: () => 0 } } }
    await expect(defineActions(terms).run({}, [])).rejects.toThrow('demo takes show')
    const told = defineActions({ ...terms, wrongAction: 'there is only show' })
    await expect(told.run({}, [])).rejects.toThrow('there is only show')
  })
})
