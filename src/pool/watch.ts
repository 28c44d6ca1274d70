/** How often running batches are looked at, in milliseconds: one timer for all jobs. */
const WATCH_MS = 50

/** Share of the newest look in the mean utilisation: a mean over about ten seconds. */
const UTILIZATION_WEIGHT = 0.005

/** What a look finds. */
export interface Look {
  /** Share of the threads that have jobs, 0 to 1. */
  readonly busy: number
  /** Whether nothing is left to look after. */
  readonly isIdle: boolean
}

/** Looks after jobs while there are some, so that an idle process is not woken. */
export interface Watch {
  /** The mean share of busy threads lately, 0 to 1. */
  readonly utilization: number
  /** Looks from now on, until a look finds nothing to look after. */
  start(): void
  stop(): void
}

/** @param look called with the time by `performance.now()` */
export function createWatch(look: (now: number) => Look): Watch {
  let timer: NodeJS.Timeout | undefined
  let utilization = 0
  let lookedAt = 0

  /** The mean as if each look that was left out since the last one had found nothing. */
  function afterRest(): number {
    const missed = Math.floor((performance.now() - lookedAt) / WATCH_MS)
    return utilization * (1 - UTILIZATION_WEIGHT) ** missed
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    get utilization() {
      return timer === undefined ? afterRest() : utilization
    },
    start() {
      if (timer !== undefined) return
      utilization = afterRest()
      timer = setInterval(() => {
        lookedAt = performance.now()
        const { busy, isIdle } = look(lookedAt)
        utilization += UTILIZATION_WEIGHT * (busy - utilization)
        if (isIdle) stop()
      }, WATCH_MS).unref()
    },
    stop,
  }
}
