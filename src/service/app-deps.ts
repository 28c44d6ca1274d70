import type { AppDeps, Rewriting } from '../http/context.ts'
import { createOriginals } from '../store/originals.ts'
import { createRewrites } from '../store/rewrites.ts'
import type { Records } from './records.ts'
import type { LiveConfig } from './reload.ts'
import { lifetimesOf } from './store.ts'

/** What the app keeps in the store and beside it. */
export function appRecords(
  live: LiveConfig,
  { store, savings, fingerprints, telemetry, tracing }: Records,
  memory: Rewriting['memory'],
) {
  const lifetimes = (tenant: string) => lifetimesOf(live.config.store, tenant)
  return {
    originals: createOriginals(store, lifetimes, Date.now),
    rewriting: rewritingOf(
      live,
      createRewrites(store, () => live.config.proxy.rewrite_ttl_ms),
      memory,
    ),
    savings,
    fingerprints,
    ...(telemetry === null ? {} : { telemetry }),
    ...(tracing === null ? {} : { tracing }),
  } satisfies Partial<AppDeps>
}

function rewritingOf(
  live: LiveConfig,
  rewrites: Rewriting['rewrites'],
  memory: Rewriting['memory'],
): Rewriting {
  const { max_rewrite_bytes, rewrite_timeout_ms } = live.config.proxy
  return {
    maxBytes: max_rewrite_bytes,
    timeoutMs: rewrite_timeout_ms,
    rewrites,
    memory,
    isOn: () => live.config.compression.enabled,
    declinesWebSockets: () => live.config.proxy.responses_websockets === 'decline',
  }
}
