import {
  HELD_MS,
  type HoldRequest,
  type SharedPlaces,
  type SharedRates,
} from '../core/base/shared-rates.ts'

/** Places are asked for again so often while requests are under way. */
const RENEW_MS = HELD_MS / 3
/** What was heard holds for so long: a little less than at the store. */
const KNOWN_MS = HELD_MS * 0.8
/** A process that was given fewer places than it wants asks again after this. */
const AGAIN_MS = 200

/**
 * Places for requests of a key at the same time, which several processes share. Each holds its
 * equal share while it has requests, and borrows what others leave. It asks in the background, so
 * no request waits for the store: one that comes before the answer finds the places of before. If
 * the store cannot be asked, or has not been, a process has its share, at least one place.
 */
export function createSharedPlaces(
  key: Omit<HoldRequest, 'wanted'>,
  rates: () => SharedRates | undefined,
  now: () => number = () => performance.now(),
): SharedPlaces {
  let held = 0
  let running = 0
  let knownUntil = Number.NEGATIVE_INFINITY
  let askAt = Number.NEGATIVE_INFINITY
  let isAsking = false
  let timer: NodeJS.Timeout | undefined

  const share = () => Math.floor(key.most / (rates()?.replicas ?? 1))

  /** Its share; above that, twice as many as there are requests. */
  function wantedFor(count: number): number {
    if (count === 0) return 0
    return Math.min(key.most, count <= share() ? share() : 2 * count)
  }

  async function ask(count: number): Promise<void> {
    const source = rates()
    if (isAsking || source === undefined) return
    clearTimeout(timer)
    isAsking = true
    const wanted = wantedFor(count)
    const granted = await source.hold({ ...key, wanted })
    isAsking = false
    askAt = now() + AGAIN_MS
    held = granted ?? 0
    knownUntil = granted === null || wanted === 0 ? Number.NEGATIVE_INFINITY : now() + KNOWN_MS
    if (running > 0) askIn(held < wantedFor(running) ? AGAIN_MS : RENEW_MS)
    else if (held > 0) askIn(AGAIN_MS)
  }

  function askIn(ms: number): void {
    timer = setTimeout(() => void ask(running), ms).unref()
  }

  return {
    most(count) {
      const isKnown = now() < knownUntil
      if ((!isKnown || count >= held) && now() >= askAt) void ask(count + 1)
      return isKnown ? held : Math.max(1, share())
    },
    note(count) {
      running = count
      const isTooMuch = held > Math.max(share(), 4 * running)
      if (held > 0 && (running === 0 || isTooMuch)) void ask(running)
    },
  }
}
