import { describe, expect, it } from 'vitest'
import { OutageWaits, type WaitBounds } from '../../../src/store/values/outage-waits.ts'

const WAIT_MS = 2_000
const OUTAGE_MS = 20_000
const NO_BOUNDS: WaitBounds = { untilMs: Number.POSITIVE_INFINITY, isOver: () => false }

/** The state of a store at an age of its outage. */
interface At {
  readonly isAway: boolean
  readonly isHeard: boolean
}
const AWAY: At = { isAway: true, isHeard: false }
const SILENT: At = { isAway: false, isHeard: false }
const BACK: At = { isAway: false, isHeard: true }

/** A store whose outage begins now, on a clock that only waits move. */
function outage(stateAt: (ageMs: number) => At) {
  const clock = { ms: 0 }
  const counts = { asked: 0 }
  const waits = new OutageWaits({
    awayMs: () => (stateAt(clock.ms).isAway ? Math.max(1, clock.ms) : 0),
    ...{ waitMs: WAIT_MS, outageMs: OUTAGE_MS },
    now: () => clock.ms,
    async sleep(ms) {
      clock.ms += ms
    },
  })

  /** What a turn hears, and after how many milliseconds. */
  async function turn(isEarlier: boolean, bounds = NO_BOUNDS) {
    const begunMs = clock.ms
    const ask = async () => {
      counts.asked++
      const { isHeard } = stateAt(clock.ms)
      waits.note(isHeard)
      return isHeard
    }
    const heard = await waits.hear({ ask, isHeard: is => is, isEarlier, bounds })
    return { heard, ms: clock.ms - begunMs }
  }
  return { turn, counts, clock }
}

it('no turn waits for a store that answers that it takes no calls', async () => {
  for (const isAway of [true, false]) {
    const waits = new OutageWaits({
      awayMs: () => (isAway ? 1 : 0),
      isRefusing: () => true,
      ...{ waitMs: WAIT_MS, outageMs: OUTAGE_MS },
      sleep: () => Promise.reject(new Error('it waits')),
    })
    const ask = async () => false
    expect(await waits.hear({ ask, isHeard: is => is, isEarlier: true })).toBe(false)
  }
})

describe('a turn that asks a store which is not heard', () => {
  const failover = (ageMs: number) => (ageMs < 15_000 ? AWAY : BACK)

  it('waits through a failover if it has earlier results', async () => {
    const { turn, counts } = outage(failover)
    expect(await turn(true)).toEqual({ heard: true, ms: 15_000 })
    // Calls that would fail at once are not made.
    expect(counts.asked).toBe(2)
  })

  it('waits only a moment if all its results are new', async () => {
    expect(await outage(failover).turn(false)).toEqual({ heard: false, ms: WAIT_MS })
  })

  it('waits a moment longer for a store that is back and does not answer yet', async () => {
    const slowly = (ageMs: number) => (ageMs < 10_000 ? AWAY : ageMs < 11_000 ? SILENT : BACK)
    expect(await outage(slowly).turn(true)).toEqual({ heard: true, ms: 11_000 })
  })

  it('waits a moment for a store that takes calls and answers none', async () => {
    expect((await outage(() => SILENT).turn(true)).ms).toBe(WAIT_MS)
  })

  it('waits no longer than an outage may be old, and goes at once in an older one', async () => {
    const { turn, clock } = outage(() => AWAY)
    clock.ms = OUTAGE_MS - 3_000
    expect(await turn(true)).toEqual({ heard: false, ms: 3_000 })
    expect(await turn(true)).toEqual({ heard: false, ms: 0 })
    expect(await turn(false)).toEqual({ heard: false, ms: 0 })
  })

  it('goes at once as well if the store comes and goes, and answers nothing for long', async () => {
    const begins = { ms: 0 }
    const { turn, clock } = outage(ageMs => (ageMs % 1_000 < 500 ? AWAY : SILENT))
    for (; clock.ms < 10 * OUTAGE_MS; clock.ms += 1_000) {
      const { ms } = await turn(true)
      if (clock.ms > 2 * OUTAGE_MS) expect(ms).toBe(0)
      else begins.ms += ms
    }
    expect(begins.ms).toBeGreaterThan(OUTAGE_MS / 2)
  })

  it('waits again in another outage', async () => {
    const twice = (ageMs: number) => (ageMs < 1_000 || ageMs >= 100_000 ? SILENT : BACK)
    const { turn, clock } = outage(twice)
    expect((await turn(true)).heard).toBe(true)
    clock.ms = 100_000
    expect((await turn(true)).ms).toBe(WAIT_MS)
    // Nobody asked it in between.
    clock.ms = 200_000
    expect((await turn(true)).ms).toBe(WAIT_MS)
  })

  it('gives up when its time is over, or nobody needs the answer', async () => {
    const late = await outage(() => AWAY).turn(true, { ...NO_BOUNDS, untilMs: 4_000 })
    expect(late).toEqual({ heard: false, ms: 4_000 })
    const gone = outage(() => AWAY)
    const isOver = () => gone.clock.ms >= 1_000
    expect((await gone.turn(true, { ...NO_BOUNDS, isOver })).ms).toBe(1_000)
  })
})
