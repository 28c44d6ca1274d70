import { type DialectName, OWN_DIALECTS } from '../core/dialects/lookup.ts'
import type { Config } from './config.ts'

type Named = Config['proxy']['upstreams'][number]

/** An API that the service forwards to. */
export interface Upstream extends Pick<Named, 'name' | 'url' | 'dialect' | 'aws' | 'forgets'> {
  /** Where the service has it: `/anthropic`, `/up/NAME`. */
  readonly place: string
}

type Settings = Pick<Config['proxy'], 'upstreams'> & Readonly<Record<string, unknown>>

/** All that are configured: those with routes of their own first, then those with names. */
export function upstreamsOf(proxy: Settings): readonly Upstream[] {
  const own = OWN_DIALECTS.flatMap(({ name }): Upstream[] => {
    const url = proxy[`${name}_url`]
    if (typeof url !== 'string') return []
    return [{ name, url, dialect: name as DialectName, place: `/${name}` }]
  })
  return [...own, ...proxy.upstreams.map(each => ({ ...each, place: `/up/${each.name}` }))]
}
