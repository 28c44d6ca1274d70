import { randomBytes } from 'node:crypto'
import { ARM_SECRET_BYTES } from '../../core/arms/assign.ts'
import type { Store } from '../../store/store.ts'

/** The secrets that tenants' arms are drawn with, one for all processes on a store. */
export interface ArmSecrets {
  /**
   * A tenant's secret. Returns `null` if it has none, and `unknown` if the store does not answer.
   * @param wanted whether one is made if there is none
   */
  of(tenant: string, wanted: boolean): Promise<Uint8Array | null | 'unknown'>
}

export interface ArmSecretsOptions {
  readonly store: Pick<Store, 'readRecord' | 'writeRecord'>
  /** Milliseconds of a clock that never goes back. */
  readonly steadyNow: () => number
}

const RECORD = { namespace: 'arms', key: 'secret.v1' } as const

/** After so long the store is asked again whether another process has made a secret. */
const ABSENT_MS = 5_000

export function createArmSecrets({ store, steadyNow }: ArmSecretsOptions): ArmSecrets {
  const known = new Map<string, Uint8Array>()
  const absent = new Map<string, number>()
  const asked = new Map<string, Promise<Uint8Array | null | 'unknown'>>()

  async function read(tenant: string): Promise<Uint8Array | 'none' | 'unknown'> {
    const found = await store.readRecord({ tenant, ...RECORD })
    // A damaged one draws nothing, as none.
    if (found.ok) return found.value.length === ARM_SECRET_BYTES ? found.value : 'none'
    return found.reason === 'not_found' ? 'none' : 'unknown'
  }

  async function readOrMake(tenant: string, wanted: boolean) {
    let secret = await read(tenant)
    if (secret === 'none' && wanted) {
      const value = randomBytes(ARM_SECRET_BYTES)
      // If two processes write, the first wins, and both use its secret.
      await store.writeRecord({ tenant, ...RECORD, value, ifVersion: 0 })
      secret = await read(tenant)
    }
    if (typeof secret !== 'string') {
      known.set(tenant, secret)
      absent.delete(tenant)
      return secret
    }
    if (secret === 'none') absent.set(tenant, steadyNow())
    return secret === 'none' ? null : secret
  }

  return {
    async of(tenant, wanted) {
      const secret = known.get(tenant)
      if (secret !== undefined) return secret
      const since = absent.get(tenant)
      if (!wanted && since !== undefined && steadyNow() - since < ABSENT_MS) return null
      // Requests that come at once ask once.
      const name = `${wanted} ${tenant}`
      const asking = asked.get(name) ?? readOrMake(tenant, wanted)
      asked.set(name, asking)
      try {
        return await asking
      } finally {
        asked.delete(name)
      }
    },
  }
}
