import { expect, it } from 'vitest'
import { COMMANDS } from '../../../src/cli/commands.ts'
import { moreToSave } from '../../../src/ui/more-to-save.ts'

type Arguments = Parameters<typeof moreToSave>
const PRICED = { bill: { billed: 1_000_000 }, money: { billed: 3 } }
const gain = { total: PRICED, currency: 'USD' } as unknown as Arguments[0]
const accounts = (unused: number, idle: number) =>
  ({
    since: Date.UTC(2026, 0, 2),
    definitions: { requests: 10, tokens: unused + 500, used: 500 },
    misses: { rows: [{ reason: 'idle', count: 4, tokens: 9, cost: idle }] },
  }) as unknown as NonNullable<Arguments[1]>

it('names what costs most first, in money, each with a command that there is', async () => {
  const page = String(moreToSave(gain, accounts(4_000_000, 200_000)))
  const items = [...page.matchAll(/<b>(.*?)<\/b> <span class="good">up to (.*?)<\/span>/g)]
  expect(items.map(([, name, worth]) => [name, worth])).toEqual([
    ['Tools that are never called', '$1.20'],
    ['Pauses longer than a cache lives', '$0.60'],
  ])
  const commands = [...page.matchAll(/<code>(.*?)<\/code>/g)].map(([, code]) => code!)
  expect(commands).toEqual([
    'haversack audit tools --logs ~/.claude/projects',
    'haversack gain --misses',
  ])
  for (const command of commands) {
    const [, name, ...words] = command.split(' ')
    const { options } = await COMMANDS[name!]!.load()
    for (const word of words.filter(each => each.startsWith('--'))) {
      expect(options).toHaveProperty(word.slice(2))
    }
  }
  expect(page).toContain('since 2026-01-02')
  expect(page).toContain('400 k tokens of each request')
})

it('says nothing of what is worth less than a line', () => {
  expect(String(moreToSave(gain, accounts(9_000, 900)))).toContain('Nothing that is known.')
  expect(String(moreToSave(gain, null))).toContain('Nothing that is known.')
})
