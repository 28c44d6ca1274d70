/** How much waits, of all and of each tenant. */
export interface Shares {
  readonly bytes: number
  /** Whether a call of so many bytes may wait too. */
  fits(tenant: string, bytes: number): boolean
  take(tenant: string, bytes: number): void
  /** It waits no longer. */
  give(tenant: string, bytes: number): void
}

/** The part of the queue that one tenant may fill; the rest is for others. */
const TENANT_SHARE = 7 / 8

interface Held {
  calls: number
  bytes: number
}

export function createShares(limits: {
  readonly maxCalls: number
  readonly maxBytesWaiting: number
}): Shares {
  const byTenant = new Map<string, Held>()
  const all: Held = { calls: 0, bytes: 0 }
  const most: Held = { calls: limits.maxCalls, bytes: limits.maxBytesWaiting }
  const mostOfOne: Held = {
    calls: Math.ceil(most.calls * TENANT_SHARE),
    bytes: Math.ceil(most.bytes * TENANT_SHARE),
  }

  return {
    get bytes() {
      return all.bytes
    },
    fits(tenant, bytes) {
      const own = byTenant.get(tenant)
      return below(all, most, bytes) && (own === undefined || below(own, mostOfOne, bytes))
    },
    take(tenant, bytes) {
      const own = byTenant.get(tenant) ?? { calls: 0, bytes: 0 }
      byTenant.set(tenant, own)
      for (const held of [own, all]) {
        held.calls++
        held.bytes += bytes
      }
    },
    give(tenant, bytes) {
      const own = byTenant.get(tenant)
      if (own === undefined) return
      for (const held of [own, all]) {
        held.calls--
        held.bytes -= bytes
      }
      if (own.calls === 0) byTenant.delete(tenant)
    },
  }
}

function below(held: Held, most: Held, bytes: number): boolean {
  return held.calls < most.calls && held.bytes + bytes <= most.bytes
}
