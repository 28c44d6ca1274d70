import { expect, it } from 'vitest'
import { Habits, type HabitsOptions } from '../../../src/ahead/habits.ts'
import { memoryRecords } from '../../support/mcp/memory-gateway.ts'
import { OFFER } from '../../support/offer.ts'

const FACTS = { offer: OFFER, key: 'get 1', server: 's', tool: 'get', session: null, predicted: 1 }
const USED = [{ facts: FACTS, isUsed: true }]
/** The probability after so many offers, all of which were followed. */
const followed = (offers: number) => (10 * OFFER.prior + offers) / (10 + offers)

function habitsOn(store: HabitsOptions['store']) {
  const unsaved: string[] = []
  const habits = new Habits({ store, now: () => 0, onUnsaved: detail => unsaved.push(detail) })
  return { habits, unsaved, of: async () => (await habits.of('t')).of(OFFER) }
}

it('an offer that is observed while habits are written counts, and is written too', async () => {
  const store = memoryRecords()
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const known: number[] = []
  const own: ReturnType<typeof habitsOn> = habitsOn({
    ...store,
    async writeRecord(write) {
      known.push(await own.of())
      begin()
      await held
      return store.writeRecord(write)
    },
  })
  await own.habits.observe('t', USED)
  const written = own.habits.flush()
  await begun
  await own.habits.observe('t', USED)
  release()
  await written
  expect(known).toEqual([followed(1), followed(2)])
  expect(await habitsOn(store).of()).toBe(followed(2))
})

it('what two processes observed is added, and a write that fails is told', async () => {
  const store = memoryRecords()
  const [a, b] = [habitsOn(store), habitsOn(store)]
  expect([await a.of(), await b.of()]).toEqual([followed(0), followed(0)])
  await Promise.all([a.habits.observe('t', USED), b.habits.observe('t', USED)])
  await Promise.all([a.habits.flush(), b.habits.flush()])
  expect(await habitsOn(store).of()).toBe(followed(2))
  const away = habitsOn({
    ...store,
    writeRecord: async () => ({ ok: false, reason: 'unavailable', detail: 'away' }) as const,
  })
  await away.habits.observe('t', USED)
  await away.habits.flush()
  expect([await away.of(), away.unsaved]).toEqual([followed(3), ['away']])
})
