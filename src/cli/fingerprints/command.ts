import { join } from 'node:path'
import { loadTelemetryKey, readTelemetryKey } from '../../book/events/key-file.ts'
import type { Config } from '../../config/config.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { dataOption, loadDataConfig } from '../../console/data-folder.ts'
import { jsonOption } from '../../console/options.ts'
import { percent, table } from '../../console/table.ts'
import { type Blend, blendAll } from '../../core/fingerprints/blend.ts'
import type { Fingerprint } from '../../core/fingerprints/fingerprint.ts'
import type { ProviderDocument, TeamDocument } from '../../core/fingerprints/upload.ts'
import { tenantFolder } from '../../core/telemetry/pseudonyms.ts'
import { replacePrivateFile } from '../../files/replace-file.ts'
import { buildFingerprints } from '../../fingerprints/build/build-fingerprints.ts'
import { ExchangeError, pullProvider, pullTeam, push } from '../../fingerprints/exchange.ts'
import { ENDPOINTS_FILE, fingerprintsFolder, SPANS_FILE } from '../../fingerprints/folder-files.ts'
import { type Pulled, providerFile, readPulled, TEAM_FILE } from '../../fingerprints/pulled.ts'
import { readFingerprintFile } from '../../fingerprints/span-file.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { destinationsOf, ofProvider, sharesOf, sourcesOf } from './destinations.ts'

/** Where an action works, and for whom. */
interface Destination {
  readonly config: Config
  readonly values: Values
  readonly now: number
}

/** The result to print; `problems` if a part failed. */
interface Outcome {
  readonly text: string
  readonly problems?: readonly string[]
}

const options = {
  ...dataOption,
  tenant: { type: 'string', value: 'NAME', help: 'Whose (default local); build: of all' },
  blended: {
    type: 'boolean',
    actions: ['show'],
    help: "with the team's and providers' figures as fetched",
  },
  'dry-run': {
    type: 'boolean',
    actions: ['push'],
    help: 'print what would be sent, as JSON',
  },
  ...jsonOption,
} as const satisfies Options

type Values = ValuesOf<typeof options>

export const fingerprintsCommand = defineActions({
  name: 'fingerprints',
  examples: ['fingerprints build', 'fingerprints show'],
  options,
  actions: {
    show: reported(show),
    build: reported(build),
    push: reported(pushAll),
    pull: reported(pullAll),
  },
})

/** An action whose outcome is printed. */
function reported(action: (place: Destination) => Promise<Outcome>) {
  const run = async (values: Values): Promise<number> => {
    const config = loadDataConfig(values)
    const { text, problems = [] } = await action({ config, values, now: Date.now() })
    if (text !== '') process.stdout.write(`${text}\n`)
    for (const problem of problems) process.stderr.write(`haversack: ${problem}\n`)
    return problems.length === 0 ? EXIT.ok : EXIT.failed
  }
  return { run }
}

async function build({ config, values, now }: Destination): Promise<Outcome> {
  if (config.store.redis !== undefined) {
    throw new UsageError('replicas that share a Redis build by themselves: each hour')
  }
  const built = await buildFingerprints(config.data_dir, now)
  if (values.json) return { text: JSON.stringify(built) }
  if (built.length === 0) return { text: 'no telemetry, so nothing was built' }
  const lines = built.map(
    ({ tenant, endpoints, spans, read }) =>
      `${tenant}: ${endpoints} endpoints of ${read.read} events, ${spans} spans that may be shared`,
  )
  return { text: lines.join('\n') }
}

async function show(place: Destination): Promise<Outcome> {
  const { folder } = ownOf(place)
  const own = (await readFingerprintFile(join(folder, ENDPOINTS_FILE))) ?? []
  const asJson = place.values.json
  if (!place.values.blended) {
    return { text: asJson ? JSON.stringify({ fingerprints: own }) : fingerprintTable(own) }
  }
  const providers = Object.keys(place.config.fingerprints.providers)
  const blended = blendRows(own, await readPulled(folder, providers, place.now))
  return { text: asJson ? JSON.stringify({ blended }) : fingerprintTable(blended) }
}

async function pushAll(place: Destination): Promise<Outcome> {
  const { config, values, now } = place
  const own = ownOf(place)
  const destinations = destinationsOf(config.fingerprints, own.memberFor)
  if (destinations.length === 0) {
    throw new UsageError(
      'nothing is shared: set fingerprints.share_endpoints_with_team or share_with_provider',
    )
  }
  const spans = await readFingerprintFile(join(own.folder, SPANS_FILE))
  if (spans === null) throw new UsageError('nothing is built yet: haversack fingerprints build')
  const shares = sharesOf(destinations, spans, now)
  if (values['dry-run']) {
    // The output has no keys, because users may pass it on.
    const shown = shares.map(({ to: { url, team }, ...share }) => ({ ...share, to: { url, team } }))
    return { text: JSON.stringify(shown) }
  }
  return inTurn(shares, async ({ name, to, member, rows, left_out }) => {
    const { accepted, refused } = await push(to, member, rows)
    const reasons = [...new Set(refused.map(({ reason }) => reason))].join(', ')
    const held = refused.length === 0 ? '' : `, ${refused.length} refused (${reasons})`
    const beyond = left_out === 0 ? '' : `, ${left_out} not sent (too many for one upload)`
    return `${name}: ${accepted} accepted${held}${beyond}`
  })
}

async function pullAll(place: Destination): Promise<Outcome> {
  const { team, providers } = sourcesOf(place.config.fingerprints)
  if (team === null && providers.length === 0) {
    throw new UsageError('no fingerprints.team and no fingerprints.providers are configured')
  }
  // A user without telemetry gains most from other sources. So the key that names the folder is
  // made if it is missing.
  loadTelemetryKey(place.config.data_dir)
  const { folder } = ownOf(place)
  const keep = async (name: string, file: string, document: TeamDocument | ProviderDocument) => {
    replacePrivateFile(join(folder, file), JSON.stringify(document), true)
    return `${name}: ${document.fingerprints.length} endpoints`
  }
  const pulls = providers.map(({ name, from, servers }) => async () => {
    const document = ofProvider(await pullProvider(from), servers)
    return keep(`provider ${name}`, providerFile(name), document)
  })
  if (team !== null) {
    pulls.unshift(async () => keep(`team ${team.team}`, TEAM_FILE, await pullTeam(team)))
  }
  return inTurn(pulls, pull => pull())
}

/** Runs the exchanges one after the other. If one service fails, the others are still tried. */
async function inTurn<T>(
  items: readonly T[],
  work: (item: T) => Promise<string>,
): Promise<Outcome> {
  const lines: string[] = []
  const problems: string[] = []
  for (const item of items) {
    try {
      lines.push(await work(item))
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error
      problems.push(error.message)
    }
  }
  return { text: lines.join('\n'), problems }
}

/** The tenant's folder, and the names that it goes by elsewhere. */
function ownOf({ config, values }: Destination) {
  const tenant = values.tenant ?? 'local'
  const key = readTelemetryKey(config.data_dir)
  if (key === null)
    throw new UsageError(
      `${config.data_dir} has no telemetry ([telemetry] sample_rate = 1 records it)`,
    )
  const folder = join(fingerprintsFolder(config.data_dir), tenantFolder(key, tenant))
  // The name is keyed, so that two services cannot see that they have the same member.
  const memberFor = (at: string) => `m${tenantFolder(key, `${tenant} member ${at}`)}`
  return { folder, memberFor }
}

/** A row of the table: a fingerprint, and the share of each source if it is blended. */
type Row = Fingerprint & { readonly weights?: Blend['weights'] }

/** Every endpoint that some source knows enough about, blended. */
function blendRows(own: readonly Fingerprint[], pulled: Pulled): Row[] {
  const ownByName = new Map(own.map(each => [each.endpoint_class, each]))
  const blended = blendAll({ own: ownByName, ...pulled })
  return [...blended.values()].map(({ fingerprint, weights }) => ({ ...fingerprint, weights }))
}

/** As a table for people, the most called first. */
function fingerprintTable(rows: readonly Row[]): string {
  if (rows.length === 0) return 'no endpoints; telemetry is built with haversack fingerprints build'
  const isBlended = rows.some(({ weights }) => weights !== undefined)
  const header = ['endpoint', 'calls', 'sessions', 'bytes', 'shape', 'bits', 'repeats', 'formats']
  const sorted = [...rows].sort((a, b) => b.call_count - a.call_count)
  return table(
    isBlended ? [...header, 'own/team/provider'] : header,
    sorted.map(row => [
      row.endpoint_class,
      row.call_count,
      row.source_sessions,
      Math.round(row.avg_response_chars),
      row.shape_dominant,
      row.format_entropy,
      percent(row.dup_rate, 1),
      row.inner_formats_top3.join(' '),
      ...(row.weights === undefined ? [] : [partsOf(row.weights)]),
    ]),
  )
}

function partsOf({ own, team, provider }: Blend['weights']): string {
  return [own, team, provider].map(part => part.toFixed(2)).join('/')
}
