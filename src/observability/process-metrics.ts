import { Counter, Gauge, type Registry } from 'prom-client'
import { VERSION } from '../runtime/version.ts'
import type { Register } from './register.ts'

/** The process, its configuration and what it refuses. */
export interface ProcessMetrics {
  /** A request that is not HTTP, or came too slowly. */
  protocolError(status: number): void
  /** An error that nothing caught. */
  uncaught(): void
  /** Keys or configuration were read again. */
  reload(what: 'keys' | 'config', ok: boolean): void
}

/** What happens to the process as a whole. */
export function createProcessMetrics({ counter, setGauge }: Register): ProcessMetrics {
  const protocolErrors = counter(
    'haversack_protocol_errors_total',
    'Requests refused before they were one: not HTTP, too large a head, too slow',
    ['status'],
  )
  const uncaught = counter(
    'haversack_uncaught_errors_total',
    'Errors that nothing caught; the service ends after the first',
    [],
  )
  const reloads = counter('haversack_reloads_total', 'Times that keys or configuration were read', [
    'what',
    'result',
  ])
  const reloadFailed = setGauge(
    'haversack_reload_failed',
    '1 where the last reading failed, and the one before is in force',
    ['what'],
  )
  for (const what of ['keys', 'config']) reloadFailed.set({ what }, 0)
  const buildInfo = setGauge('haversack_build_info', '1, labelled with the version', [
    'version',
    'node',
  ])
  buildInfo.set({ version: VERSION, node: process.version }, 1)
  return {
    protocolError: status => protocolErrors.inc({ status }),
    uncaught: () => uncaught.inc(),
    reload(what, ok) {
      reloads.inc({ what, result: ok ? 'ok' : 'failed' })
      reloadFailed.set({ what }, ok ? 0 : 1)
    },
  }
}

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
