import { existsSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { BookOptions } from '../../../src/book/book.ts'
import { AppError } from '../../../src/core/base/errors.ts'
import { LEDGER_FILE } from '../../../src/runtime/data-files.ts'
import { eventually } from '../../support/eventually.ts'
import { inlineTasks, ledgerFolder, ownLedger } from '../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../support/ledger/rows.ts'
import { factsOf } from '../core/telemetry/events.ts'
import { SETTINGS } from './events/settings.ts'
import { eventsIn, filesIn, summariesIn, TENANT, testTelemetry } from './events/writer.ts'

/** A ledger and telemetry, in a folder each. */
function ownBook(options: Partial<BookOptions> = {}) {
  const [folder, events] = [ledgerFolder(), ledgerFolder()]
  const fates = { written: 0, dropped: 0, failed: 0 }
  const problems: Error[] = []
  const own = ownLedger({
    folder,
    events: { folder: events, key: new Uint8Array(32), settings: SETTINGS },
    onEvents: (fate, count) => {
      fates[fate] += count
    },
    onProblem: error => problems.push(error),
    flushMs: 2 ** 31 - 1,
    ...options,
  })
  const rows = async () => (await own.ledger.latest('a', 99)).length
  return { ...own, book: own.ledger, folder, events, fates, problems, rows }
}

describe('the book', () => {
  it('writes each result in the ledger and in telemetry, and a looked up one there alone', async () => {
    const { book, events, rows, fates } = ownBook()
    book.result(resultOf('a'))
    book.result(resultOf('a', {}, { only: 'telemetry' }))
    book.turn(turnOf({ tenant: 'a' }))
    book.offer({ tenant: 'a', session: null, facts: { enricher_unsent: 'unchanged' } })
    expect(await rows()).toBe(1)
    await book.upkeep()
    expect(fates).toEqual({ written: 3, dropped: 0, failed: 0 })
    const found = await eventsIn(events)
    expect(found.map(each => each.enricher_unsent)).toEqual([undefined, undefined, 'unchanged'])
    expect(found[0]).toMatchObject({ tool_name_anon: 'search', tokens_baseline: 100 })
  })

  it('writes telemetry without a ledger, whose file it does not make', async () => {
    const { book, folder, events, fates } = ownBook({ limits: null })
    book.result(resultOf('a'))
    book.turn(turnOf({ tenant: 'a' }))
    await book.close()
    expect(fates.written).toBe(1)
    expect(await eventsIn(events)).toHaveLength(1)
    expect(existsSync(join(folder, LEDGER_FILE))).toBe(false)
  })

  it('begins another session after one was closed, in the order in which both came', async () => {
    const { book, events } = ownBook()
    const inSession = { call: { session: 's' } }
    book.result(resultOf('a', {}, {}, inSession))
    book.ended('a', 's')
    book.result(resultOf('a', {}, {}, inSession))
    await book.close()
    const summaries = await summariesIn(events)
    expect(summaries.map(({ total_events }) => total_events)).toEqual([1, 1])
  })

  it('keeps events with their rows while another process holds the file, each once', async () => {
    const { book, folder, events, rows, fates } = ownBook()
    book.result(resultOf('a'))
    expect(await rows()).toBe(1)
    const other = new DatabaseSync(join(folder, LEDGER_FILE))
    other.exec('BEGIN IMMEDIATE')
    book.result(resultOf('a'))
    expect(await book.flush()).toBe(false)
    other.exec('ROLLBACK')
    other.close()
    expect(await rows()).toBe(2)
    await book.close()
    expect(fates).toEqual({ written: 2, dropped: 0, failed: 0 })
    expect(await eventsIn(events)).toHaveLength(2)
  })

  it('writes the events of rows that the ledger cannot take', async () => {
    const { book, events, rows, fates, dropped } = ownBook()
    book.result(resultOf('a', {}, { source: {} as string }))
    expect(await rows()).toBe(0)
    expect(dropped).toEqual([1])
    await book.close()
    expect(fates).toEqual({ written: 1, dropped: 0, failed: 0 })
    expect(await eventsIn(events)).toHaveLength(1)
  })

  it('counts what a lost thread had, and goes on', async () => {
    const tasks = inlineTasks()
    let isLost = true
    const { book, rows, fates, dropped, failures } = ownBook({
      thread: {
        run: (by, name, input) =>
          isLost && name === 'write'
            ? Promise.reject(new AppError('worker_lost', 'it ended'))
            : tasks.run(by, name, input),
        close: tasks.close,
      },
    })
    book.result(resultOf('a'))
    book.result(resultOf('a', {}, { only: 'telemetry' }))
    book.turn(turnOf({ tenant: 'a' }))
    await book.flush()
    expect([dropped, fates]).toEqual([[2], { written: 0, dropped: 0, failed: 2 }])
    expect(failures).toHaveLength(1)
    isLost = false
    book.result(resultOf('a'))
    expect(await rows()).toBe(1)
  })

  it('has events that wait written while nothing arrives', async () => {
    const steps: string[] = []
    const { book } = ownBook({
      flushMs: 5,
      limits: null,
      thread: {
        async run(_by, name, input) {
          if (name === 'events') steps.push((input as unknown as { step: string }).step)
          return {
            written: 0,
            failed: 0,
            pending: name === 'write' ? 1 : 0,
            problem: null,
          } as never
        },
        close: async () => {},
      },
    })
    book.result(resultOf('a'))
    await eventually(() => expect(steps).toEqual(['lookAfter', 'flush']))
  })

  it('drops events that find no room', async () => {
    const { book, fates, dropped } = ownBook({ limits: null })
    for (let at = 0; at < 20_010; at++) book.ended('a', 'none')
    book.result(resultOf('a'))
    expect([fates.dropped, dropped]).toEqual([1, []])
    await book.close()
    expect(fates.written).toBe(0)
  })

  it('counts events whose files cannot be written, and says why once', async () => {
    const folder = join(ledgerFolder(), 'telemetry')
    writeFileSync(folder, 'in the way')
    const { book, fates, problems } = ownBook({
      events: { folder, key: new Uint8Array(32), settings: SETTINGS },
    })
    for (let n = 0; n < 5; n++) book.result(resultOf('a'))
    await book.close()
    expect(fates).toEqual({ written: 0, dropped: 0, failed: 5 })
    expect(problems).toMatchObject([{ code: 'ENOTDIR' }])
  })

  it('writes nothing while another works alone, and all of it afterwards', async () => {
    const { book, events, fates } = ownBook()
    book.result(resultOf('a'))
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    let before: number | undefined
    const alone = book.alone(async () => {
      before = fates.written
      book.result(resultOf('a'))
      await held
      return fates.written
    })
    await eventually(() => expect(before).toBe(1))
    const upkeep = book.upkeep()
    release()
    expect(await alone).toBe(1)
    await upkeep
    expect(fates.written).toBe(2)
    expect(await eventsIn(events)).toHaveLength(2)
  })

  it('reads while files of telemetry are looked after, which work alone waits for', async () => {
    const killed = testTelemetry({ flush_every_n: 1 }, { startMs: Date.now() })
    killed.record(TENANT, factsOf())
    await eventually(() => expect(killed.fates.written).toBe(1))
    const { folder } = killed
    for (const { path } of filesIn(folder)) utimesSync(path, 1, 1)
    const isOpen = () => filesIn(folder).some(({ name }) => name.includes('open'))
    const { book, rows } = ownBook({
      events: { folder, key: new Uint8Array(32), settings: SETTINGS },
    })
    await book.upkeep()
    expect(await rows()).toBe(0)
    expect(isOpen()).toBe(true)
    expect(await book.alone(async () => isOpen())).toBe(false)
    expect(await summariesIn(folder)).toMatchObject([{ total_events: 1 }])
  })

  it('goes on after work that fails', async () => {
    const { book, rows } = ownBook()
    await expect(book.alone(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    book.result(resultOf('a'))
    expect(await rows()).toBe(1)
  })
})
