import { afterEach, describe, expect, test } from 'vitest'
import { Arms, type ArmsAlarm, type ArmsOptions } from '../../../../src/book/arms/arms.ts'
import { armsAnswer } from '../../../../src/book/arms/arms-answer.ts'
import {
  addArms,
  armsOf,
  emptyArms,
  readArms,
  writeArms,
} from '../../../../src/book/arms/tenant-arms.ts'
import { arrival, followUp, NO_SUMS, type ResultArm } from '../../../../src/core/arms/sums.ts'
import { verdictOf } from '../../../../src/core/arms/verdict.ts'
import type { Store } from '../../../../src/store/store.ts'

const SETTINGS = { holdout: 0.05, explore: 0.1 }
const NO_ALARM = { elided: NO_SUMS, whole: NO_SUMS }

function recordStore() {
  const records = new Map<string, { value: Uint8Array; version: number }>()
  let isAway = false
  const nameOf = (at: { tenant: string; namespace: string; key: string }) =>
    `${at.tenant}/${at.namespace}/${at.key}`
  const away = { ok: false, reason: 'unavailable', detail: 'away' } as const
  const store: Pick<Store, 'readRecord' | 'writeRecord'> = {
    async readRecord(at) {
      if (isAway) return away
      const found = records.get(nameOf(at))
      if (found === undefined) return { ok: false, reason: 'not_found', detail: '' }
      return { ok: true, ...found, expires_at: null }
    },
    async writeRecord({ value, ifVersion, ...at }) {
      if (isAway) return away
      const version = records.get(nameOf(at))?.version ?? 0
      if (ifVersion !== undefined && ifVersion !== version) {
        return { ok: false, reason: 'conflict', detail: '' }
      }
      records.set(nameOf(at), { value, version: version + 1 })
      return { ok: true, version: version + 1 }
    },
  }
  const leave = (gone: boolean) => {
    isAway = gone
  }
  return { store, records, leave }
}

const opened: Arms[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map(each => each.close()))
})

function open(store: ArmsOptions['store'], more: Partial<ArmsOptions> = {}) {
  const alarms: ArmsAlarm[] = []
  const arms = new Arms({
    store,
    settings: () => SETTINGS,
    now: () => Date.UTC(2026, 4, 1),
    steadyNow: () => 0,
    switchOff: async () => true,
    onRecord: () => {},
    onAlarm: alarm => void alarms.push(alarm),
    onUnsaved: () => {},
    onBug: error => {
      throw error
    },
    flushMs: 3_600_000,
    ...more,
  })
  opened.push(arms)
  return { arms, alarms }
}

/** Reports of results of a class, of which each costs so much of what was left out. */
function reports(name: string, count: number, price: number) {
  return Array.from({ length: count }, (_, n) => {
    const isWhole = n % 10 === 0
    const direct = 100 + 10 * (n % 7)
    const arm: ResultArm = { class: name, isWhole, direct, share: 0.1 }
    const back = { kind: 'same_call', before: 0, isFirst: true, takesTurn: true } as const
    const cost = price * direct
    return { arms: isWhole ? [arrival(arm)!] : [arrival(arm)!, followUp(arm, { ...back, cost })!] }
  })
}

describe('the secret of a tenant', () => {
  test('is one for all processes on a store, and its own', async () => {
    const { store } = recordStore()
    const [first, second] = [open(store).arms, open(store).arms]
    const drawn = (arms: Arms, tenant: string) => arms.terms(tenant) as Promise<{ secret: unknown }>
    const [a, b] = await Promise.all([drawn(first, 't'), drawn(second, 't')])
    expect(a).toMatchObject({ holdout: 0.05, explore: 0.1, quarter: 2026 * 4 + 1 })
    expect(a.secret).toEqual(b.secret)
    expect((await drawn(first, 'u')).secret).not.toEqual(a.secret)
  })

  test('is not made as long as nothing is drawn, and stays in use after that', async () => {
    const { store, records } = recordStore()
    const off = open(store, { settings: () => ({ holdout: 0, explore: 0 }) }).arms
    expect(await off.terms('t')).toBeNull()
    expect(records.size).toBe(0)
    await open(store).arms.terms('u')
    expect(await off.terms('u')).toMatchObject({ holdout: 0, explore: 0 })
  })

  test('is looked for again after some seconds, and made at once when arms are drawn', async () => {
    const { store } = recordStore()
    let [time, reads, settings] = [0, 0, { holdout: 0, explore: 0 }]
    const readRecord: typeof store.readRecord = at => {
      reads++
      return store.readRecord(at)
    }
    const terms = { settings: () => settings, steadyNow: () => time }
    const { arms } = open({ ...store, readRecord }, terms)
    for (const [at, expected] of [
      [0, 1],
      [4_999, 1],
      [5_000, 2],
    ] as const) {
      time = at
      expect(await arms.terms('t')).toBeNull()
      expect(reads).toBe(expected)
    }
    settings = SETTINGS
    expect(await arms.terms('t')).toMatchObject(SETTINGS)
  })

  test('is not known while the store is away, unless it was before', async () => {
    const { store, leave } = recordStore()
    const { arms } = open(store)
    const off = open(store, { settings: () => ({ holdout: 0, explore: 0 }) }).arms
    leave(true)
    expect(await arms.terms('t')).toBe('unknown')
    expect(await off.terms('t')).toBeNull()
    leave(false)
    const known = await arms.terms('t')
    expect(known).toMatchObject({ holdout: 0.05 })
    leave(true)
    expect(await arms.terms('t')).toEqual(known)
  })

  test('is not drawn with if its record is damaged, or cannot be written', async () => {
    const { store, records } = recordStore()
    records.set('t/arms/secret.v1', { value: new Uint8Array(3), version: 1 })
    const full = { ok: false, reason: 'quota', detail: 'full' } as never
    const { arms } = open({ ...store, writeRecord: async () => full })
    expect(await arms.terms('t')).toBeNull()
    expect(await arms.terms('u')).toBeNull()
  })
})

describe('a class whose elision costs more than it saves', () => {
  test('is found, switched off once by one of two processes, and begins again', async () => {
    const { store, records } = recordStore()
    const off: string[] = []
    const switchOff: ArmsOptions['switchOff'] = async alarm => off.push(alarm.class) > 0
    let time = Date.UTC(2026, 4, 1)
    const terms = { switchOff, now: () => time }
    const [a, b] = [open(store, terms), open(store, terms)]
    for (const { arms } of [a, b]) {
      arms.record('t', reports('Read', 1_000, 3))
      arms.record('t', reports('Grep', 1_000, 0.1))
    }
    await Promise.all([a.arms.look(), b.arms.look()])
    expect(off).toEqual(['Read'])
    const alarms = [...a.alarms, ...b.alarms]
    expect(alarms).toMatchObject([{ tenant: 't', class: 'Read', isReverted: true }])
    expect(alarms[0]!.high).toBeLessThan(0)
    expect([...records.keys()]).toContain('t/arms/alarm Read 0')
    // Nothing is said twice of the same results.
    const actor = a.alarms.length > 0 ? a : b
    actor.arms.record('t', reports('Read', 10, 3))
    await actor.arms.look()
    expect(off).toHaveLength(1)
    const { classes } = armsAnswer(await actor.arms.read('t'), SETTINGS)
    const read = classes.find(each => each.class === 'Read')
    expect(read).toMatchObject({ verdict: 'unknown', net: null, alarm_at: Date.UTC(2026, 4, 1) })
    expect(read!.elided.results).toBeLessThan(20)
    // What other processes had under way is no second alarm, but it may cost again later.
    actor.arms.record('t', reports('Read', 1_000, 3))
    await actor.arms.look()
    expect(off).toEqual(['Read'])
    time += 86_400_000
    actor.arms.record('t', reports('Read', 1, 0))
    await actor.arms.look()
    expect(off).toEqual(['Read', 'Read'])
  })

  test('is only reported if the file cannot be written', async () => {
    const { arms, alarms } = open(recordStore().store, { switchOff: async () => false })
    arms.record('t', reports('Read', 1_000, 3))
    await arms.look()
    expect(alarms).toMatchObject([{ class: 'Read', isReverted: false }])
  })

  test('is found once the store answers, and looked for no more without new results', async () => {
    const { store, leave } = recordStore()
    let reads = 0
    const readRecord: typeof store.readRecord = at => {
      reads++
      return store.readRecord(at)
    }
    const { arms, alarms } = open({ ...store, readRecord })
    arms.record('t', reports('Read', 1_000, 3))
    leave(true)
    await arms.look()
    expect(alarms).toEqual([])
    leave(false)
    await arms.look()
    expect(alarms).toHaveLength(1)
    const before = reads
    await arms.look()
    expect(reads).toBe(before)
  })

  test('is told as a bug if switching it off fails, and other tenants are looked at', async () => {
    const bugs: unknown[] = []
    const { arms, alarms } = open(recordStore().store, {
      onBug: bug => void bugs.push(bug),
      switchOff: async ({ tenant }) => {
        if (tenant === 't') throw new TypeError('no')
        return true
      },
    })
    for (const tenant of ['t', 'u']) arms.record(tenant, reports('Read', 1_000, 3))
    await arms.look()
    expect(bugs).toEqual([new TypeError('no')])
    expect(alarms).toMatchObject([{ tenant: 'u' }])
  })

  test.each(['constructor', '__proto__', 'toString'])('may be named %s', async name => {
    const { arms, alarms } = open(recordStore().store)
    arms.record('t', reports(name, 1_000, 3))
    await arms.look()
    expect(alarms).toMatchObject([{ class: name, isReverted: true }])
  })

  test('is none if elision pays, or nothing is known', async () => {
    const { arms, alarms } = open(recordStore().store)
    arms.record('t', reports('Read', 1_000, 0.2))
    arms.record('t', reports('sed', 40, 5))
    await arms.look()
    expect(alarms).toEqual([])
    const { classes } = armsAnswer(await arms.read('t'), SETTINGS)
    expect(classes.map(each => [each.class, each.verdict])).toEqual([
      ['Read', 'saves'],
      ['sed', 'unknown'],
    ])
  })
})

describe('the sums of a tenant', () => {
  test('are the same in any order, and read as they were written', () => {
    const [a, b] = [reports('Read', 30, 1), reports('sed', 20, 2)].map(each => armsOf(each, 5)!)
    const sum = addArms(a!, b!)
    expect(readArms(writeArms(sum))).toEqual(sum)
    expect(addArms(b!, a!).classes['sed']).toEqual(sum.classes['sed'])
    const alarm = (at: number) => ({ ...emptyArms(at), alarms: { sed: { at, sums: NO_ALARM } } })
    for (const [one, other] of [[alarm(1), alarm(2)] as const, [alarm(2), alarm(1)] as const]) {
      expect(addArms(one, other)).toMatchObject({ since: 1, alarms: { sed: { at: 2 } } })
    }
    expect(readArms(Buffer.from('{}'))).toBeNull()
    expect(readArms(Buffer.from('no'))).toBeNull()
    expect(armsOf([{}], 1)).toBeNull()
  })

  test('are counted by arm, by follow-up and by the arm of the unit', () => {
    const counts: unknown[] = []
    const { arms } = open(recordStore().store, { onRecord: count => void counts.push(count) })
    const unit = (isHeldOut: boolean, results: number) => ({
      unit: {
        unit: `${results}`,
        isHeldOut,
        results,
        tokens: 1,
        saved: 0,
        again: 0,
        failedEdits: 0,
      },
    })
    arms.record('t', [...reports('Read', 20, 1), ...reports('sed', 10, 1), unit(true, 3)])
    arms.record('t', [unit(false, 4)])
    arms.record('t', [{}])
    const none = { retrieval: 0, same_call: 0, same_file: 0, failed_edit: 0 }
    expect(counts).toEqual([
      {
        results: { elided: 27, whole: 3 },
        followUps: { elided: { ...none, same_call: 27 }, whole: none },
        ofUnits: { heldOut: 3, treated: 0 },
      },
      {
        results: { elided: 0, whole: 0 },
        followUps: { elided: none, whole: none },
        ofUnits: { heldOut: 0, treated: 4 },
      },
    ])
  })

  test('have names like constructor as names, and a bounded number of them', () => {
    const names = ['constructor', 'valueOf', 'toString']
    const sum = names.map(each => armsOf(reports(each, 20, 1), 1)!).reduce(addArms)
    const again = readArms(writeArms(sum))!
    expect(armsAnswer(again, SETTINGS).classes.map(each => each.elided.results)).toEqual([
      18, 18, 18,
    ])
    const many = Array.from({ length: 300 }, (_, n) => armsOf(reports(`c${n}`, 1, 0), 1)!)
    const { classes } = many.reduce(addArms)
    expect(Object.keys(classes).length).toBeLessThanOrEqual(101)
    expect(classes['other']!.whole.results).toBe(200)
  })

  test('keep the newest sessions only', () => {
    const one = (n: number) => {
      const counts = { results: 1, tokens: 10, saved: 2, again: 3, failedEdits: 4 }
      return armsOf([{ unit: { unit: `u${n}`, isHeldOut: n % 20 === 0, ...counts } }], n)!
    }
    let sum = emptyArms(0)
    for (let n = 0; n < 2_050; n++) sum = addArms(sum, one(n))
    sum = addArms(sum, one(2_049))
    expect(sum.units).toHaveLength(2_000)
    const twice = { results: 2, tokens: 20, saved: 4, again: 6, failedEdits: 8 }
    expect(sum.units[0]).toEqual({ unit: 'u2049', isHeldOut: false, last_at: 2_049, ...twice })
    expect(addArms(one(7), sum).units[0]).toEqual(sum.units[0])
    const { units } = armsAnswer(sum, SETTINGS)
    expect(units.treated + units.held_out).toBe(2_000)
    expect(units.differences.map(({ measure }) => measure)).toContain('again')
    expect(armsAnswer(sum, SETTINGS).units).toEqual(units)
  })

  test('are answered with what they come to, in whole tokens', () => {
    const unclear = [...reports('Grep', 500, 0), ...reports('Grep', 500, 2)]
    const clear = [...reports('Read', 1_000, 3.3), ...reports('sed', 1_000, 0.2)]
    const arms = armsOf([...unclear, ...clear], 5)!
    const { classes, since, settings } = armsAnswer(arms, SETTINGS)
    expect([since, settings]).toEqual([5, { ...SETTINGS, revert: true }])
    expect(classes.map(each => each.verdict)).toEqual(['unknown', 'costs', 'saves'])
    for (const each of classes) {
      const sums = arms.classes[each.class]!
      const verdict = verdictOf(sums, SETTINGS.explore)
      const { estimate, low, high } = verdict.net!
      expect(each).toMatchObject({
        ...{ direct: Math.round(verdict.direct), retrieved: Math.round(verdict.retrieved) },
        ...{ excess: Math.round(verdict.excess), alarm_at: null, missing: verdict.missing },
        net: { estimate: Math.round(estimate), low: Math.round(low), high: Math.round(high) },
        elided: { results: sums.elided.results, same_call: 900, turns: sums.elided.turns },
        whole: { results: 100, same_call: 0, retrieval: 0 },
      })
    }
  })

  test('differ by chance, or not', () => {
    const rows = Array.from({ length: 60 }, (_, n) => {
      const isHeldOut = n % 3 === 0
      const counts = { results: 1 + (n % 2), tokens: 10, saved: isHeldOut ? 9 : 1, again: 0 }
      return { unit: { unit: `u${n}`, isHeldOut, ...counts, failedEdits: 0 } }
    })
    const arms = armsOf(rows, 1)!
    // Those of one moment are in the order of their names.
    const names = arms.units.map(({ unit }) => unit)
    expect(names).toEqual(names.toSorted())
    const { differences } = armsAnswer(arms, SETTINGS).units
    const p = Object.fromEntries(differences.map(each => [each.measure, each.p]))
    expect(p['saved']).toBeLessThan(0.01)
    expect(p['results']).toBeGreaterThan(0.5)
  })

  test('gain from four works beside requests at once, which closing waits for', async () => {
    const { arms } = open(recordStore().store)
    const { promise: held, resolve: release } = Promise.withResolvers<void>()
    let [begun, done] = [0, 0]
    for (let n = 0; n < 6; n++) {
      arms.beside(async () => {
        begun++
        await held
        done++
      })
    }
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    const closed = arms.close()
    expect([begun, done]).toEqual([4, 0])
    release()
    await closed
    expect(done).toBe(4)
  })
})
