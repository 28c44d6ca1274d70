import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { CallOnly, Commits } from '../../../../src/store/sqlite/commits.ts'
import { Loop } from '../../../../src/store/sqlite/loop.ts'
import type { Answer, FromThread, OperationName } from '../../../../src/store/sqlite/protocol.ts'
import { fail } from '../../../../src/store/values/failure.ts'
import type { StoreState } from '../../../../src/store/values/store-figures.ts'
import { eventually } from '../../../support/eventually.ts'

const MIB = 1024 * 1024

/** A loop over a commits that notes what it is asked, and what the loop posts. */
function loopOver({ upkeepMs = 3_600_000, first = 'open' as StoreState } = {}) {
  const asked: string[] = []
  const posted: FromThread[] = []
  const moved: (readonly ArrayBuffer[])[] = []
  const state = {
    now: first,
    afterUpkeep: null as StoreState | null,
    bytes: 1,
    upkeepLeft: 0,
    writes: 100,
    closed: 0,
  }
  const name = ({ op, args }: CallOnly) => `${op} ${String(args[0])}`
  const body = () => ({ ok: true, body: new Uint8Array(state.bytes) }) as unknown as Answer<'get'>
  const commits: Pick<Commits, keyof Commits> = {
    read(call) {
      asked.push(name(call))
      return body()
    },
    write(calls) {
      const taken = calls.slice(0, state.writes)
      asked.push(taken.map(name).join(', '))
      return taken.map(() => fail('busy', ''))
    },
    upkeep(quiet) {
      asked.push(`upkeep ${quiet ? 'quiet' : 'beside calls'}`)
      state.now = state.afterUpkeep ?? state.now
      return state.upkeepLeft-- > 0
    },
    get state() {
      return state.now
    },
    close: () => void asked.push('close'),
  }
  const loop = new Loop({
    commits,
    upkeepMs,
    post(message, transfer) {
      posted.push(message)
      moved.push(transfer)
    },
    onClosed: () => void state.closed++,
  })
  onTestFinished(() => loop.receive({ kind: 'close' }))
  let id = 0
  const call = (op: OperationName, bytes = 0) => ({ id: ++id, op, args: [id], bytes })
  const give = (calls: ReturnType<typeof call>[], read_bytes = 0) =>
    loop.receive({ kind: 'calls', calls, read_bytes })
  const answered = () =>
    posted.flatMap(message => (message.kind === 'answers' ? message.answers.map(a => a.id) : []))
  return { loop, asked, posted, moved, state, call, give, answered }
}

/** Lets the loop work until it rests. */
async function rest(turns = 6): Promise<void> {
  for (let i = 0; i < turns; i++) await turn()
}

describe('the order of work', () => {
  test('reads, then writes, urgent ones first, each answered in one message', async () => {
    const { asked, posted, call, give } = loopOver()
    await rest()
    asked.length = 0
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
    onTestFinished(() => clock.mockRestore())
    give([
      call('put'),
      call('get'),
      call('touch'),
      call('stats'),
      call('verify'),
      call('prune' as OperationName),
    ])
    await rest()
    expect(asked).toEqual(['stats 4', 'get 2', 'verify 5', 'touch 3, put 1, prune 6'])
    expect(
      posted.map(message => message.kind === 'answers' && message.answers.map(a => a.id)),
    ).toEqual([
      [4, 2, 5],
      [3, 1, 6],
    ])
  })

  test('what a transaction did not take comes with the next', async () => {
    const { asked, state, call, give, answered } = loopOver()
    await rest()
    asked.length = 0
    state.writes = 2
    give([call('put'), call('put'), call('touch'), call('put'), call('put')])
    await rest()
    expect(asked).toEqual(['touch 3, put 1', 'put 2, put 4', 'put 5'])
    expect(answered()).toEqual([3, 1, 2, 4, 5])
  })

  test('reads have ten milliseconds before writes have their turn', async () => {
    /** The time by the number of reads, so that it does not matter who else looks at the clock. */
    const times = [0, 4, 9, 10, 10.1]
    const { asked, call, give } = loopOver()
    await rest()
    asked.length = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => times[asked.length] ?? 100)
    try {
      give([call('get'), call('get'), call('get'), call('get'), call('get'), call('put')])
      await rest()
    } finally {
      clock.mockRestore()
    }
    expect(asked.slice(0, 6)).toEqual(['get 1', 'get 2', 'get 3', 'get 4', 'put 6', 'get 5'])
  })
})

describe('what a call took', () => {
  test('of a transaction is its part of it by its bytes; of a read what it took', async () => {
    const { asked, posted, call, give } = loopOver()
    await rest()
    asked.length = 0
    const times = [0, 3, 4, 14]
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => times[asked.length] ?? 14)
    try {
      give([call('get'), call('get'), call('put', 0), call('put', 2 * 8192)])
      await rest(3)
    } finally {
      clock.mockRestore()
    }
    const took = posted.map(
      message => message.kind === 'answers' && message.answers.map(answer => answer.us),
    )
    expect(took).toEqual([
      [3000, 1000],
      [2500, 7500],
    ])
  })
})

describe('answers that nobody has read', () => {
  test('hand their buffers over, and are counted', async () => {
    const { posted, moved, state, call, give } = loopOver()
    state.bytes = 1000
    give([call('get'), call('get')])
    await rest()
    expect(posted).toMatchObject([{ kind: 'answers', bytes: 2000 }])
    expect(moved[0]?.map(({ byteLength }) => byteLength)).toEqual([1000, 1000])
  })

  test('above 64 MiB hold up reads, but not what is urgent, nor writes', async () => {
    const { state, call, give, answered, loop } = loopOver()
    state.bytes = 32 * MIB
    give([call('get'), call('get'), call('get')])
    await rest()
    // 64 MiB is not above it.
    expect(answered()).toEqual([1, 2, 3])
    state.bytes = 1
    give([call('get'), call('readRecord'), call('put')])
    await rest()
    expect(answered()).toEqual([1, 2, 3, 5, 6])
    // Nor does it close before it has answered.
    loop.receive({ kind: 'close' })
    await rest()
    expect(state.closed).toBe(0)
    give([], 33 * MIB)
    await rest()
    expect(answered()).toEqual([1, 2, 3, 5, 6, 4])
    expect(state.closed).toBe(1)
  })

  test('that are read count no more', async () => {
    const { state, call, give, answered } = loopOver()
    state.bytes = 40 * MIB
    give([call('get'), call('get')])
    await rest()
    give([call('get')])
    await rest()
    expect(answered()).toEqual([1, 2])
    give([], 16 * MIB)
    await rest()
    expect(answered()).toEqual([1, 2, 3])
  })
})

describe('upkeep', () => {
  test('goes on until nothing is due, and says whether calls wait', async () => {
    const { asked, state, call, give } = loopOver()
    state.upkeepLeft = 2
    state.writes = 1
    give([call('put'), call('put')])
    await rest()
    expect(asked).toEqual(['put 1', 'upkeep beside calls', 'put 2', 'upkeep quiet', 'upkeep quiet'])
  })

  test('comes again by the clock', async () => {
    const { asked } = loopOver({ upkeepMs: 1 })
    await eventually(() => expect(asked.length).toBeGreaterThan(2))
    expect(new Set(asked)).toEqual(new Set(['upkeep quiet']))
  })

  test('knows of reads that wait, unless they are held up', async () => {
    const { asked, state, call, give } = loopOver()
    await rest()
    state.bytes = 65 * MIB
    give([call('get')])
    await rest()
    asked.length = 0
    give([call('get')])
    await rest()
    expect(asked).toEqual([])
  })
})

describe('the state', () => {
  test('is told when it changes, before the answers of that turn', async () => {
    const { posted, state, call, give } = loopOver()
    await rest()
    expect(posted).toEqual([])
    state.now = 'salvaging'
    give([call('get')])
    await rest()
    expect(posted.map(({ kind }) => kind)).toEqual(['state', 'answers'])
    expect(posted[0]).toEqual({ kind: 'state', state: 'salvaging' })
    give([call('get')])
    await rest()
    expect(posted.map(({ kind }) => kind)).toEqual(['state', 'answers', 'answers'])
  })

  test('is told at the start if it is not open, and after upkeep has changed it', async () => {
    const { posted, state } = loopOver({ first: 'unavailable' })
    state.afterUpkeep = 'open'
    expect(posted).toEqual([{ kind: 'state', state: 'unavailable' }])
    await rest()
    expect(posted.slice(1)).toEqual([{ kind: 'state', state: 'open' }])
  })
})

test('closing answers what is there, closes the file, and says so', async () => {
  const { loop, asked, posted, state, call, give, answered } = loopOver()
  await rest()
  asked.length = 0
  state.writes = 1
  give([call('put'), call('put'), call('get')])
  loop.receive({ kind: 'close' })
  await rest()
  expect(asked).toEqual(['get 3', 'put 1', 'put 2', 'close'])
  expect(answered()).toEqual([3, 1, 2])
  expect(posted.at(-1)).toEqual({ kind: 'closed' })
  expect(state.closed).toBe(1)
})
