import { readFileSync } from 'node:fs'
import type { Config } from '../../config/config.ts'
import { processEnv } from '../../config/env.ts'
import type { Fingerprint } from '../../core/fingerprints/fingerprint.ts'
import type { ProviderDocument } from '../../core/fingerprints/upload.ts'
import type { Destination } from '../../fingerprints/exchange.ts'
import { ofServers, shareable } from '../../fingerprints/shareable.ts'

type Settings = Config['fingerprints']
type Service = NonNullable<Settings['team']>

/** Where something is sent, as whom, and of which servers; `null`: of all endpoints. */
interface Sharing {
  readonly name: string
  readonly to: Destination
  readonly member: string
  readonly servers: readonly string[] | null
}

/** What is sent to one of them. */
export interface Share extends Omit<Sharing, 'servers'> {
  readonly rows: readonly Fingerprint[]
}

/**
 * Where the configuration lets fingerprints go: each needs its own consent.
 * @param memberFor a name for where none is configured
 */
export function destinationsOf(
  settings: Settings,
  memberFor: (name: string) => string,
): readonly Sharing[] {
  const { team, providers } = settings
  const consented = Object.entries(providers).filter(
    ([name]) =>
      Object.hasOwn(settings.share_with_provider, name) && settings.share_with_provider[name],
  )
  return [
    ...(team !== undefined && settings.share_endpoints_with_team
      ? [sharing(`team ${team.team}`, team, null, memberFor)]
      : []),
    ...consented.map(([name, each]) => sharing(`provider ${name}`, each, each.servers, memberFor)),
  ]
}

function sharing(
  name: string,
  service: Service,
  servers: readonly string[] | null,
  memberFor: (name: string) => string,
): Sharing {
  return { name, to: serviceOf(service), member: service.member ?? memberFor(name), servers }
}

/** What of the closed spans goes where. */
export function sharesOf(
  destinations: readonly Sharing[],
  spans: readonly Fingerprint[],
  now: number,
): readonly Share[] {
  const rows = shareable(spans, now)
  return destinations.map(({ servers, ...to }) => ({
    ...to,
    rows: servers === null ? rows : ofServers(rows, servers),
  }))
}

/** Where fingerprints are fetched from; that needs no consent. */
export function sourcesOf({ team, providers }: Settings) {
  return {
    team: team === undefined ? null : serviceOf(team),
    providers: Object.entries(providers).map(([name, each]) => ({
      name,
      from: serviceOf(each),
      servers: each.servers,
    })),
  }
}

/** A provider is believed about its own servers only. */
export function ofProvider(
  document: ProviderDocument,
  servers: readonly string[],
): ProviderDocument {
  return { ...document, fingerprints: ofServers(document.fingerprints, servers) }
}

function serviceOf({ url, team, key_file }: Service): Destination {
  const key =
    key_file === undefined ? processEnv()['HAVERSACK_KEY'] : readFileSync(key_file, 'utf8').trim()
  return { url: url.replace(/\/+$/, ''), team, key }
}
