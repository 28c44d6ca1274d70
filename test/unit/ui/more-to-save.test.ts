import { parse } from 'smol-toml'
import { expect, it } from 'vitest'
import { pipelineSchema } from '../../../src/core/pipeline/profile/pipeline-config.ts'
import { moreToSave } from '../../../src/ui/more-to-save.ts'

type Arguments = Parameters<typeof moreToSave>
const PRICED = { bill: { billed: 1_000_000 }, money: { billed: 3 } }
const gain = { total: PRICED, currency: 'USD' } as unknown as Arguments[0]
const accounts = (unused: number, idle: number) =>
  ({
    definitions: { requests: 10, tokens: unused + 500, used: 500 },
    misses: { rows: [{ reason: 'idle', count: 4, tokens: 9, cost: idle }] },
  }) as unknown as NonNullable<Arguments[1]>

it('names what costs most first, in money, with a command or a setting that there is', () => {
  const page = String(moreToSave(gain, accounts(4_000_000, 200_000)))
  const items = [...page.matchAll(/<b>(.*?)<\/b> <span class="good">up to (.*?)<\/span>/g)]
  expect(items.map(([, name, worth]) => [name, worth])).toEqual([
    ['Tools that are never called', '$1.20'],
    ['Pauses longer than a cache lives', '$0.60'],
  ])
  const [setting, command] = [...page.matchAll(/<code>(.*?)<\/code>/g)].map(([, code]) => code!)
  expect(pipelineSchema.parse(parse(setting!)).cache_align.defer).toBe(true)
  expect(command).toBe('haversack gain --misses')
  expect(page).toContain('400 k tokens of each request')
})

it('says nothing of what is worth less than a line', () => {
  expect(String(moreToSave(gain, accounts(9_000, 900)))).toContain('Nothing that is known.')
  expect(String(moreToSave(gain, null))).toContain('Nothing that is known.')
})
