import type { StoreEvent } from '../store.ts'
import type { Bodies } from './bodies.ts'
import type { BodyRow } from './body-row.ts'
import type { UnreadableError } from './codec.ts'
import type { Count } from './counters.ts'
import type { Reader } from './reader.ts'

/** Bodies that turned out damaged, and keys that were missing; each is reported once. */
export class Faults {
  readonly #count: Count
  readonly #onEvent: (event: StoreEvent) => void
  readonly #damaged = new Set<number>()
  readonly #missing = new Set<string>()

  constructor(count: Count, onEvent: (event: StoreEvent) => void) {
    this.#count = count
    this.#onEvent = onEvent
  }

  /** Whether `removeDamaged` has something to look at. */
  get hasDamage(): boolean {
    return this.#damaged.size > 0
  }

  noteUnreadable(row: BodyRow, { missingKey }: UnreadableError): void {
    if (missingKey === null) this.noteDamage(row)
    else this.noteMissing(missingKey)
  }

  noteMissing(key_id: string): void {
    if (this.#missing.has(key_id)) return
    this.#missing.add(key_id)
    this.#onEvent({ kind: 'missing_key', key_id })
  }

  noteDamage(row: BodyRow): void {
    if (this.#damaged.has(row.id)) return
    this.#damaged.add(row.id)
    this.#count('damaged')
    const hash = Buffer.from(row.hash).toString('hex')
    this.#onEvent({ kind: 'damaged_body', tenant: row.tenantName, hash })
  }

  /**
   * Removes bodies that were found damaged and still are; returns how many. The row may have gone
   * since, or a put may have repaired it, and its number may be another body's.
   */
  removeDamaged(bodies: Bodies, reader: Reader, now: number): number {
    let removed = 0
    for (const id of this.#damaged) {
      const found = bodies.byId(id)
      if (found === undefined || reader.readable(found)) continue
      bodies.remove(found, 'tombstone', now)
      removed++
    }
    this.#damaged.clear()
    return removed
  }
}
