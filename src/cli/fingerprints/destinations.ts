import type { Config } from '../../config/config.ts'
import { processEnv } from '../../config/env.ts'
import { type Fingerprint, LIMITS } from '../../core/fingerprints/fingerprint.ts'
import type { ProviderDocument } from '../../core/fingerprints/upload.ts'
import { readPlainText } from '../../files/read-plain-file.ts'
import type { Destination } from '../../fingerprints/exchange.ts'
import { ofServers, shareable } from '../../fingerprints/shareable.ts'

type Settings = Config['fingerprints']
type Team = NonNullable<Settings['team']>
type Provider = Settings['providers'][string]

/** Where something is sent, as whom, and of which servers; `null`: of all endpoints. */
interface Sharing {
  readonly name: string
  readonly to: Destination
  readonly member: string
  readonly servers: readonly string[] | null
}

/** The fingerprints for one destination. */
export interface Share extends Omit<Sharing, 'servers'> {
  readonly rows: readonly Fingerprint[]
  /** Rows beyond the most that an upload may have. */
  readonly left_out: number
}

/**
 * Where the configuration lets fingerprints go: each needs its own consent.
 * @param memberFor returns the name under which a destination gets them; it reveals nothing
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
      ? [sharing(`team ${team.team}`, teamAt(team), null, memberFor)]
      : []),
    ...consented.map(([name, each]) =>
      sharing(`provider ${name}`, providerAt(name, each), each.servers, memberFor),
    ),
  ]
}

function sharing(
  name: string,
  to: Destination,
  servers: readonly string[] | null,
  memberFor: (name: string) => string,
): Sharing {
  return { name, to, member: memberFor(name), servers }
}

/**
 * The closed spans for each destination. If there are more than an upload may have, those with the
 * most sessions.
 */
export function sharesOf(
  destinations: readonly Sharing[],
  spans: readonly Fingerprint[],
  now: number,
): readonly Share[] {
  const all = shareable(spans, now)
  return destinations.map(({ servers, ...to }) => {
    const rows = servers === null ? all : ofServers(all, servers)
    const most = rows
      .toSorted((a, b) => b.source_sessions - a.source_sessions)
      .slice(0, LIMITS.rows)
    return { ...to, rows: most, left_out: rows.length - most.length }
  })
}

/** The sources of fingerprints. Fetching needs no consent. */
export function sourcesOf({ team, providers }: Settings) {
  return {
    team: team === undefined ? null : teamAt(team),
    providers: Object.entries(providers).map(([name, each]) => ({
      name,
      from: providerAt(name, each),
      servers: each.servers,
    })),
  }
}

/** A provider's figures are used for its own servers only. */
export function ofProvider(
  document: ProviderDocument,
  servers: readonly string[],
): ProviderDocument {
  return { ...document, fingerprints: ofServers(document.fingerprints, servers) }
}

function teamAt(service: Team): Destination {
  return serviceAt(service, processEnv()['HAVERSACK_KEY'])
}

function providerAt(name: string, { key_file: file, ...service }: Provider): Destination {
  const setting = `fingerprints.providers.${name}`
  return serviceAt(service, file === undefined ? undefined : readKey(setting, file))
}

function serviceAt({ url, team }: Team, key: string | undefined): Destination {
  return { url: url.replace(/\/+$/, ''), team, key }
}

function readKey(setting: string, file: string): string {
  try {
    return readPlainText(file).trim()
  } catch (error) {
    throw new Error(`${setting}.key_file: ${file} cannot be read`, { cause: error })
  }
}
