import { beforeEach, describe, expect, it } from 'vitest'
import { LIMITS } from '../../../src/core/fingerprints/fingerprint.ts'
import type { FingerprintThread } from '../../../src/fingerprints/task-thread.ts'
import { Teams } from '../../../src/fingerprints/teams.ts'
import type { RecordKey } from '../../../src/store/store.ts'
import { fail } from '../../../src/store/values/failure.ts'
import { DAY, inlineThread, memoryRecords, NOW, row } from './rows.ts'

let clock: { now: number }
let records: ReturnType<typeof memoryRecords>
/** Namespaces and keys of what was read. */
let reads: string[]
/** What the next writes and reads of a key come to, instead of what they would. */
let failures: Map<string, 'gone' | 'lost' | 'failed'>
let teams: Teams

const AWAY = { code: 'overloaded', extras: { retry_after_s: 30 } }
const nameOf = ({ namespace, key }: RecordKey) => `${namespace.split('.')[0]} ${key}`

beforeEach(() => {
  clock = { now: NOW }
  records = memoryRecords()
  reads = []
  failures = new Map()
  teams = teamsOn(inlineThread)
})

function teamsOn(thread: Pick<FingerprintThread, 'run'>): Teams {
  const store: typeof records = {
    ...records,
    async readRecord(key) {
      reads.push(nameOf(key))
      const failure = failures.get(`read ${nameOf(key)}`)
      return failure === undefined ? records.readRecord(key) : fail(failure, 'cannot be read')
    },
    async writeRecord(write) {
      const failure = failures.get(`write ${nameOf(write)}`)
      failures.delete(`write ${nameOf(write)}`)
      const written = await records.writeRecord(write)
      return failure === undefined ? written : fail(failure, 'the answer was lost')
    },
  }
  return new Teams({ store, thread, now: () => clock.now })
}

function upload(member: string, sessions = 12, team = 'backend') {
  const endpoints = [row({ source_sessions: sessions, call_count: 100 })]
  const body = Buffer.from(JSON.stringify({ member, endpoints }))
  return teams.upload('acme', team, { body, media: 'json' }, null)
}

async function sessionsOf(team = 'backend'): Promise<number> {
  const { json } = await teams.document('acme', team)
  const { fingerprints } = JSON.parse(Buffer.from(json).toString())
  return fingerprints[0].source_sessions
}

describe('a record that cannot be read any more', () => {
  it('is no reason to show nothing of the other members', async () => {
    await upload('ada', 5)
    await upload('bob', 7)
    failures.set('read fingerprint_uploads backend/ada', 'gone')
    clock.now += 60_000
    expect(await sessionsOf()).toBe(7)
  })

  it('is not written over: nobody would know what was published', async () => {
    await upload('ada')
    failures.set('read fingerprint_uploads backend/ada', 'gone')
    await expect(upload('ada')).rejects.toMatchObject({
      code: 'gone',
      detail: expect.stringContaining('upload as another member'),
    })
    await expect(teams.withdraw('acme', 'backend', 'ada')).rejects.toMatchObject({ code: 'gone' })
  })

  it('may be the list: members come back with their next uploads', async () => {
    await upload('ada', 5)
    failures.set('read fingerprint_teams backend', 'gone')
    await upload('bob', 7)
    failures.clear()
    clock.now += 60_000
    expect(await sessionsOf()).toBe(7)
    await upload('ada', 5)
    expect(await sessionsOf()).toBe(12)
  })

  it('is told from a store that does not answer', async () => {
    await upload('ada')
    failures.set('read fingerprint_uploads backend/ada', 'failed')
    clock.now += 60_000
    await expect(sessionsOf()).rejects.toMatchObject(AWAY)
  })
})

describe('a write whose answer is lost', () => {
  it('is made again, and counts once', async () => {
    failures.set('write fingerprint_uploads backend/ada', 'lost')
    expect(await upload('ada', 9)).toMatchObject({ accepted: 1, refused: [] })
    expect(await sessionsOf()).toBe(9)
    failures.set('write fingerprint_uploads backend/ada', 'lost')
    await teams.withdraw('acme', 'backend', 'ada')
    await expect(sessionsOf()).rejects.toMatchObject({ code: 'not_found' })
    await expect(teams.withdraw('acme', 'backend', 'ada')).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('members that come at once', () => {
  it('are all in, however many', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `m${index}`)
    await Promise.all(names.map(name => upload(name, 5)))
    expect(await sessionsOf()).toBe(300)
  })
})

describe('a full team', () => {
  it('takes no further member, without a look at what the others have uploaded', async () => {
    await upload('m0')
    await fill(LIMITS.members - 1)
    reads = []
    await expect(upload('late')).rejects.toMatchObject({ code: 'overloaded' })
    expect(reads).toEqual(['fingerprint_uploads backend/late', 'fingerprint_teams backend'])
    await upload('m0')
  })

  it('is one too whose uploads have too many rows together', async () => {
    await upload('m0')
    await fill(2, 250_000)
    const full = { code: 'overloaded', detail: expect.stringContaining('500000 rows') }
    await expect(upload('late')).rejects.toMatchObject(full)
    // A smaller upload takes the place of a larger one, and the list hears of it a day later.
    clock.now += DAY
    await upload('m1')
    await expect(upload('late')).resolves.toMatchObject({ accepted: 1 })
  })

  it('takes others in place of those whose uploads have expired', async () => {
    await upload('m0')
    await fill(LIMITS.members - 1)
    clock.now = NOW + 20 * DAY
    await upload('m0')
    clock.now = NOW + 34 * DAY
    await upload('late')
    await upload('later')
  })

  /** Members as uploads would leave them, in the list alone. */
  async function fill(more: number, rows = 100): Promise<void> {
    const key = { tenant: 'acme', namespace: 'fingerprint_teams.v3', key: 'backend' }
    const found = await records.readRecord(key)
    if (!found.ok) throw new Error('no list')
    const list = JSON.parse(Buffer.from(found.value).toString())
    for (let index = 1; index <= more; index += 1) list.push([`m${index}`, NOW, rows])
    await records.writeRecord({ ...key, value: Buffer.from(JSON.stringify(list)) })
  }
})

describe('documents', () => {
  it('stay at hand, also where many ask for teams that do not exist', async () => {
    await upload('ada')
    await sessionsOf()
    for (let index = 0; index < 1_000; index += 1) {
      await expect(teams.document('acme', `none-${index}`)).rejects.toMatchObject({
        code: 'not_found',
      })
    }
    reads = []
    await sessionsOf()
    expect(reads).toEqual([])
  })

  it('have what was accepted before they were asked for, also while one is being made', async () => {
    await upload('ada', 5)
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    let merges = 0
    async function held<T>(result: T): Promise<T> {
      merges += 1
      if (merges === 1) await gate
      return result
    }
    teams = teamsOn({
      run(by, name, input) {
        const running = inlineThread.run(by, name, input)
        return name === 'merge' ? running.then(held) : running
      },
    })
    const first = sessionsOf()
    await expect.poll(() => merges).toBe(1)
    await upload('bob', 7)
    const second = sessionsOf()
    open()
    expect(await Promise.all([first, second])).toEqual([5, 12])
    expect(merges).toBe(2)
  })

  it('show what another process on the store has changed, after half a minute', async () => {
    await upload('ada', 5)
    const { digest } = await teams.document('acme', 'backend')
    const here = teams
    teams = teamsOn(inlineThread)
    // The same version there, so that clients need not fetch what they have from another replica or
    // after a restart.
    expect((await teams.document('acme', 'backend')).digest).toBe(digest)
    await upload('bob', 7)
    teams = here
    expect(await sessionsOf()).toBe(5)
    clock.now += 30_000
    expect(await sessionsOf()).toBe(12)
  })

  it('are made one at a time for a tenant, since each takes the memory of a team', async () => {
    let under = 0
    let most = 0
    async function counted<T>(work: () => Promise<T>): Promise<T> {
      under += 1
      most = Math.max(most, under)
      await new Promise(resolve => setImmediate(resolve))
      return work().finally(() => {
        under -= 1
      })
    }
    const names = ['a', 'b', 'c', 'd']
    for (const name of names) await upload('ada', 5, name)
    teams = teamsOn({
      run: (by, name, input) => counted(() => inlineThread.run(by, name, input)),
    })
    expect(await Promise.all(names.map(name => sessionsOf(name)))).toEqual([5, 5, 5, 5])
    expect(most).toBe(1)
  })

  it('take other turns of the thread than uploads, and than those of other tenants', async () => {
    const turns = new Map<string, Set<string>>()
    teams = teamsOn({
      run(by, name, input) {
        turns.set(name, new Set([...(turns.get(name) ?? []), by]))
        return inlineThread.run(by, name, input)
      },
    })
    await upload('ada')
    await sessionsOf()
    const ofUploads = [...turns.get('read')!, ...turns.get('admit')!]
    expect(new Set(ofUploads).size).toBe(1)
    expect(ofUploads).not.toContain([...turns.get('merge')!][0])
    await expect(teams.document('beta', 'backend')).rejects.toMatchObject({ code: 'not_found' })
    await teams.upload(
      'beta',
      'x',
      { body: Buffer.from('{"member":"a","endpoints":[]}'), media: 'json' },
      null,
    )
    expect(turns.get('read')!.size).toBe(2)
  })

  it('go on being made after one could not be', async () => {
    await upload('ada', 5)
    failures.set('read fingerprint_teams backend', 'failed')
    await expect(sessionsOf()).rejects.toMatchObject(AWAY)
    failures.clear()
    expect(await sessionsOf()).toBe(5)
  })
})
