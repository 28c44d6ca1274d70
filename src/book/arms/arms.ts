import { type ArmTerms, quarterOf } from '../../core/arms/assign.ts'
import { verdictOf } from '../../core/arms/verdict.ts'
import { AppError } from '../../core/base/errors.ts'
import type { Store } from '../../store/store.ts'
import { failureProblem } from '../../store/values/failure.ts'
import { createTenantSums } from '../../store/values/tenant-sums.ts'
import { ArmSecrets } from './secrets.ts'
import {
  type ArmsCount,
  type ArmsRow,
  addArms,
  alarmOf,
  armsOf,
  countOf,
  emptyArms,
  OTHER_CLASSES,
  readArms,
  sinceAlarm,
  type TenantArms,
  writeArms,
} from './tenant-arms.ts'

/** A tenant's settings. */
export interface ArmsSettings {
  /** Share of units that are forwarded untouched. */
  readonly holdout: number
  /** Share of results that stay whole. */
  readonly explore: number
}

/** A class whose elision costs more than it saves. */
export interface ArmsAlarm {
  readonly tenant: string
  readonly class: string
  /** Tokens that were left out, and what that saved in the end, at most. */
  readonly direct: number
  readonly high: number
  /** Whether it was switched off. */
  readonly isReverted: boolean
}

export interface ArmsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Asked at each request, since a reload may change them. */
  readonly settings: (tenant: string) => ArmsSettings
  /** Unix milliseconds. */
  readonly now: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly steadyNow: () => number
  /** Switches elision off for a class of a tenant. Returns whether it did. */
  readonly switchOff: (alarm: Omit<ArmsAlarm, 'isReverted'>) => Promise<boolean>
  /** Called with what is counted. */
  readonly onRecord: (count: ArmsCount) => void
  readonly onAlarm: (alarm: ArmsAlarm) => void
  readonly onUnsaved: (detail: string) => void
  readonly onBug: (error: unknown) => void
  readonly flushMs?: number
}

/** The format is in the key, so that a record of another version is never read as this one's. */
const RECORD = { namespace: 'arms', key: 'sums.v1' } as const

/** Between two looks. Intervals may be looked at as often as one likes. */
const LOOK_MS = 600_000

/** After an alarm of a class, until there may be another. */
const QUIET_MS = 86_400_000

/** At once in a process. */
const MOST_BESIDE = 4

/** Draws arms, and counts in the store what becomes of them, by tenant. */
export class Arms {
  readonly settings: ArmsOptions['settings']
  readonly #options: ArmsOptions
  readonly #secrets: ArmSecrets
  readonly #sums: ReturnType<typeof createTenantSums<TenantArms>>
  readonly #changed = new Set<string>()
  readonly #working = new Set<Promise<void>>()
  readonly #timer: NodeJS.Timeout

  constructor(options: ArmsOptions) {
    this.settings = options.settings
    this.#options = options
    this.#secrets = new ArmSecrets(options)
    this.#sums = createTenantSums<TenantArms>({
      ...options,
      record: RECORD,
      read: readArms,
      write: writeArms,
      add: addArms,
    })
    this.#timer = setInterval(() => void this.look().catch(options.onBug), LOOK_MS)
    this.#timer.unref()
  }

  /**
   * What arms are drawn with. Returns `null` if none are, and `unknown` if they are and the store
   * does not answer: a unit may have an arm then. Never rejects.
   */
  async terms(tenant: string): Promise<Omit<ArmTerms, 'session'> | null | 'unknown'> {
    const { now, onBug } = this.#options
    const { holdout, explore } = this.settings(tenant)
    const isOn = holdout > 0 || explore > 0
    try {
      const secret = await this.#secrets.of(tenant, isOn)
      // Without a share of its own an outage leaves a tenant as it is.
      if (secret === 'unknown') return isOn ? secret : null
      return secret === null ? null : { secret, quarter: quarterOf(now()), holdout, explore }
    } catch (error) {
      onBug(error)
      return isOn ? 'unknown' : null
    }
  }

  /** Counts what the rows of results add. */
  record(tenant: string, rows: readonly ArmsRow[]): void {
    const more = armsOf(rows, this.#options.now())
    if (more === null) return
    this.#sums.add(tenant, more)
    this.#options.onRecord(countOf(more))
    this.#changed.add(tenant)
  }

  /**
   * What is known of a tenant.
   * @throws AppError `overloaded`, `internal`, `worker_lost` if the store cannot be read
   */
  async read(tenant: string): Promise<TenantArms> {
    const found = await this.#sums.read(tenant)
    if ('ok' in found) throw AppError.of(failureProblem(found))
    return found.sums ?? emptyArms(this.#options.now())
  }

  /**
   * Does work that no request waits for, after what is under way. If too much of it runs, it is
   * passed over: what it would have counted is counted with the next request.
   */
  beside(work: () => Promise<void>): void {
    if (this.#working.size >= MOST_BESIDE) return
    const done = new Promise(setImmediate).then(work).catch(this.#options.onBug)
    this.#working.add(done)
    void done.finally(() => this.#working.delete(done))
  }

  /** Looks whether elision pays, for the tenants that had results since the last time. */
  async look(): Promise<void> {
    const tenants = [...this.#changed]
    this.#changed.clear()
    for (const tenant of tenants) {
      try {
        await this.#lookAt(tenant)
      } catch (error) {
        // The store does not answer; the next look is soon enough.
        if (!(error instanceof AppError)) this.#options.onBug(error)
        this.#changed.add(tenant)
      }
    }
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await Promise.all(this.#working)
    await this.#sums.close()
  }

  async #lookAt(tenant: string): Promise<void> {
    const { now, switchOff, onAlarm } = this.#options
    const arms = await this.read(tenant)
    const { explore } = this.settings(tenant)
    for (const name of Object.keys(arms.classes)) {
      // Other processes still add what was under way at the alarm.
      const last = alarmOf(arms, name)
      if (now() - (last?.at ?? 0) < QUIET_MS) continue
      const { direct, net } = verdictOf(sinceAlarm(arms, name), explore)
      if (net === null || net.high > 0) continue
      // Alarms of a class are numbered by the results of the one before.
      const before = last?.sums.elided.results ?? 0
      if (!(await this.#claim(tenant, name, before))) continue
      const alarm = { tenant, class: name, direct, high: net.high }
      const isReverted = name !== OTHER_CLASSES && (await switchOff(alarm))
      const kept = { at: now(), sums: arms.classes[name]! }
      this.#sums.add(tenant, { ...emptyArms(now()), alarms: { [name]: kept } })
      onAlarm({ ...alarm, isReverted })
    }
  }

  /** Takes the right to act on an alarm, which one of all processes gets. */
  async #claim(tenant: string, name: string, results: number): Promise<boolean> {
    const { store, now } = this.#options
    const key = `alarm ${name} ${results}`
    const value = Buffer.from(String(now()))
    const claimed = await store.writeRecord({ tenant, namespace: 'arms', key, value, ifVersion: 0 })
    return claimed.ok
  }
}
