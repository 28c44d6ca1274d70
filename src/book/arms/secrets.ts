import { randomBytes } from 'node:crypto'
import { ARM_SECRET_BYTES } from '../../core/arms/assign.ts'
import type { Store } from '../../store/store.ts'

export interface ArmSecretsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Milliseconds of a clock that never goes back. */
  readonly steadyNow: () => number
}

const RECORD = { namespace: 'arms', key: 'secret.v1' } as const

/** After so long the store is asked again whether another process has made a secret. */
const ABSENT_MS = 5_000

/** The secrets that tenants' arms are drawn with, one for all processes on a store. */
export class ArmSecrets {
  readonly #options: ArmSecretsOptions
  readonly #known = new Map<string, Uint8Array>()
  readonly #absent = new Map<string, number>()
  readonly #asked = new Map<string, Promise<Uint8Array | null | 'unknown'>>()

  constructor(options: ArmSecretsOptions) {
    this.#options = options
  }

  /**
   * A tenant's secret. Returns `null` if it has none, and `unknown` if the store does not answer.
   * @param wanted whether one is made if there is none
   */
  async of(tenant: string, wanted: boolean): Promise<Uint8Array | null | 'unknown'> {
    const secret = this.#known.get(tenant)
    if (secret !== undefined) return secret
    const since = this.#absent.get(tenant)
    const { steadyNow } = this.#options
    if (!wanted && since !== undefined && steadyNow() - since < ABSENT_MS) return null
    // Requests that come at once ask once.
    const name = `${wanted} ${tenant}`
    const asking = this.#asked.get(name) ?? this.#readOrMake(tenant, wanted)
    this.#asked.set(name, asking)
    try {
      return await asking
    } finally {
      this.#asked.delete(name)
    }
  }

  async #readOrMake(tenant: string, wanted: boolean): Promise<Uint8Array | null | 'unknown'> {
    let secret = await this.#read(tenant)
    if (secret === null && wanted) {
      const value = randomBytes(ARM_SECRET_BYTES)
      // If two processes write, the first wins, and both use its secret.
      await this.#options.store.writeRecord({ tenant, ...RECORD, value, ifVersion: 0 })
      secret = await this.#read(tenant)
    }
    if (secret === null) this.#absent.set(tenant, this.#options.steadyNow())
    else if (secret !== 'unknown') {
      this.#known.set(tenant, secret)
      this.#absent.delete(tenant)
    }
    return secret
  }

  async #read(tenant: string): Promise<Uint8Array | null | 'unknown'> {
    const found = await this.#options.store.readRecord({ tenant, ...RECORD })
    // A damaged one draws nothing, as none.
    if (found.ok) return found.value.length === ARM_SECRET_BYTES ? found.value : null
    return found.reason === 'not_found' ? null : 'unknown'
  }
}
