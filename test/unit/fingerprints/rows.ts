import { type Collector, createCollector } from '../../../src/core/fingerprints/collect.ts'
import { createDays } from '../../../src/core/fingerprints/day-rows.ts'
import type { EndpointEvent } from '../../../src/core/fingerprints/event-sums.ts'
import type { Fingerprint } from '../../../src/core/fingerprints/fingerprint.ts'
import type { FingerprintThread } from '../../../src/fingerprints/task-thread.ts'
import { TASKS } from '../../../src/fingerprints/tasks.ts'
import type { RecordKey, RecordWrite, Store } from '../../../src/store/store.ts'
import { fail } from '../../../src/store/values/failure.ts'

export const NOW = Date.UTC(2026, 0, 31)
export const DAY = 86_400_000

/** A row that is accepted, seen over the last ten days. */
export function row(overrides: Partial<Fingerprint> = {}): Fingerprint {
  return {
    endpoint_class: 'git_log',
    call_count: 60,
    avg_response_chars: 900,
    shape_dominant: 'prose',
    shape_mix: { prose: 0.75, markdown_table: 0.25 },
    dup_rate: 0.1,
    format_entropy: 0.811278,
    inner_formats_top3: ['hash', 'url'],
    avg_cols: 4,
    avg_rows: 10,
    key_stability_mean: null,
    first_seen_ms: NOW - 10 * DAY,
    last_seen_ms: NOW - DAY,
    source_sessions: 12,
    ...overrides,
  }
}

/** A collector that has the days of these events. */
export function collectorOf(
  closed: readonly Fingerprint[],
  now: number,
  events: Iterable<EndpointEvent>,
): Collector {
  const days = createDays()
  for (const event of events) days.add(event)
  const collector = createCollector(closed, now)
  for (const day of days.rows()) collector.add(day)
  return collector
}

/** Runs tasks in this thread, on copies as a thread gets them. */
export const inlineThread: Pick<FingerprintThread, 'run'> = {
  async run(_, name, input) {
    const task = TASKS[name] as (input: unknown) => unknown
    return structuredClone(await task(structuredClone(input))) as never
  },
}

/** The records of a store, in a map. */
export function memoryRecords(): Pick<Store, 'readRecord' | 'writeRecord'> & { size(): number } {
  const records = new Map<string, { value: Uint8Array; version: number }>()
  const keyOf = ({ tenant, namespace, key }: RecordKey) => [tenant, namespace, key].join('\n')
  let versions = 0
  return {
    size: () => records.size,
    async readRecord(key) {
      const found = records.get(keyOf(key))
      if (found === undefined) return fail('not_found', 'none')
      return { ok: true, ...found, value: found.value.slice(), expires_at: null }
    },
    async writeRecord(write: RecordWrite) {
      const found = records.get(keyOf(write))
      if (write.ifVersion !== undefined && write.ifVersion !== (found?.version ?? 0)) {
        return fail('conflict', 'another came first')
      }
      versions += 1
      records.set(keyOf(write), { value: new Uint8Array(write.value), version: versions })
      return { ok: true, version: versions }
    },
  }
}
