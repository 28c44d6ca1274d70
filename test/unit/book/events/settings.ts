import type { EventSettings } from '../../../../src/book/events/event-files.ts'

const DAY_MS = 86_400_000

export const SETTINGS: EventSettings = {
  sample_rate: 1,
  flush_every_n: 3,
  rotate_bytes: 1 << 20,
  max_bytes: 1 << 30,
  idle_ms: 60_000,
  event_ttl_ms: 30 * DAY_MS,
  summary_ttl_ms: 90 * DAY_MS,
}
