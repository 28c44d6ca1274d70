import type { Config } from '../config/config.ts'
import type { UiSource } from '../http/context.ts'
import type { Gauges } from '../observability/metrics.ts'

/** What the page shows of the service; absent if it is off, or has no ledger to show. */
export function uiSource(
  { ui, ledger, proxy, keys_file }: Pick<Config, 'ui' | 'ledger' | 'proxy' | 'keys_file'>,
  gauges: Gauges,
): { readonly ui?: UiSource } {
  if (!ui.enabled || !ledger.enabled) return {}
  const { anthropic_url, openai_url, upstreams } = proxy
  const all = [
    ...(anthropic_url === undefined ? [] : [{ path: '/anthropic', url: anthropic_url }]),
    ...(openai_url === undefined ? [] : [{ path: '/openai', url: openai_url }]),
    ...upstreams.map(({ name, url }) => ({ path: `/up/${name}`, url })),
  ]
  return {
    ui: {
      gauges,
      upstreams: all.map(({ path, url }) => ({ path, host: new URL(url).host })),
      ...(keys_file === undefined ? {} : { keysFile: keys_file }),
    },
  }
}
