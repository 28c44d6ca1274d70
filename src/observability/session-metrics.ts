import { Counter, Gauge, type Registry } from 'prom-client'

/** How full the memory of sessions is. */
export interface SessionUse {
  readonly sessions: number
  readonly entries: number
  /** Sessions that were evicted since the start because there was no room. */
  readonly evicted: number
}

/** What sessions hold, read at each scrape. */
export function registerSessionGauges(registry: Registry, use: () => SessionUse): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: (use: SessionUse) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(use()))
      },
    })
  gauge('haversack_sessions', 'Sessions that are known', ({ sessions }) => sessions)
  gauge(
    'haversack_session_results',
    'Results in sessions that whole results are compared with',
    ({ entries }) => entries,
  )
  let before = 0
  new Counter({
    name: 'haversack_sessions_evicted_total',
    help: 'Sessions forgotten for want of room',
    registers,
    collect() {
      const { evicted } = use()
      this.inc(evicted - before)
      before = evicted
    },
  })
}
