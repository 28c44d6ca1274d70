import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildFingerprints } from '../build-fingerprints.ts'
import type { Config } from '../config/config.ts'
import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { EXIT } from '../exit-codes.ts'
import { pullProvider, pullTeam, push } from '../fingerprints/exchange.ts'
import {
  ENDPOINTS_FILE,
  fingerprintsFolder,
  readFingerprintFile,
  SPANS_FILE,
} from '../fingerprints/span-file.ts'
import { readTelemetryKey } from '../telemetry/key-file.ts'
import { type Command, text, UsageError, type Values } from './command.ts'
import { destinationsOf, ofProvider, sharesOf, sourcesOf } from './fingerprints/destinations.ts'
import { providerFile, readPulled, TEAM_FILE } from './fingerprints/pulled.ts'
import { blendRows, fingerprintTable } from './fingerprints/report.ts'
import { jsonOption } from './options.ts'

/** Where a command works, and for whom. */
interface Place {
  readonly config: Config
  readonly values: Values
  readonly now: number
}

const ACTIONS: Readonly<Record<string, (place: Place) => Promise<string>>> = {
  show,
  build,
  push: pushAll,
  pull: pullAll,
}

export const fingerprintsCommand: Command = {
  name: 'fingerprints',
  summary: 'What endpoints are like: build it from telemetry, share it, fetch what others share',
  operands: Object.keys(ACTIONS).join(' | '),
  maxOperands: 1,
  options: {
    data: { type: 'string', value: 'FOLDER', help: 'Data folder (default HAVERSACK_DATA_DIR)' },
    tenant: { type: 'string', value: 'NAME', help: 'Whose (default local); build: of all' },
    blended: { type: 'boolean', help: "show: with the team's and providers' figures as fetched" },
    'dry-run': { type: 'boolean', help: 'push: print what would be sent, as JSON' },
    ...jsonOption,
  },
  async run(values, [name]) {
    const action = name !== undefined && Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (action === undefined) {
      throw new UsageError(`fingerprints takes one of ${Object.keys(ACTIONS).join(', ')}`)
    }
    const folder = text(values, 'data')
    const overrides = folder === undefined ? {} : { data_dir: folder }
    const config = loadConfig({ env: processEnv(), overrides, insecure: true })
    process.stdout.write(`${await action({ config, values, now: Date.now() })}\n`)
    return EXIT.ok
  },
}

async function build({ config, values, now }: Place): Promise<string> {
  const built = await buildFingerprints(config.data_dir, now)
  if (values['json'] === true) return JSON.stringify(built)
  if (built.length === 0) return 'no telemetry, so nothing was built'
  return built
    .map(
      ({ tenant, endpoints, spans, read }) =>
        `${tenant}: ${endpoints} endpoints of ${read.read} events, ${spans} spans that may be shared`,
    )
    .join('\n')
}

async function show(place: Place): Promise<string> {
  const { folder } = ownOf(place)
  const own = (await readFingerprintFile(join(folder, ENDPOINTS_FILE))) ?? []
  const asJson = place.values['json'] === true
  if (place.values['blended'] !== true) {
    return asJson ? JSON.stringify({ fingerprints: own }) : fingerprintTable(own)
  }
  const pulled = await readPulled(folder, Object.keys(place.config.fingerprints.providers))
  const blended = blendRows(own, pulled)
  return asJson ? JSON.stringify({ blended }) : fingerprintTable(blended)
}

async function pushAll(place: Place): Promise<string> {
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
  if (values['dry-run'] === true) return JSON.stringify(shares)
  const lines: string[] = []
  for (const { name, to, member, rows } of shares) {
    const { accepted, refused } = await push(to, member, rows)
    const reasons = [...new Set(refused.map(({ reason }) => reason))].join(', ')
    const held = refused.length === 0 ? '' : `, ${refused.length} refused (${reasons})`
    lines.push(`${name}: ${accepted} accepted${held}`)
  }
  return lines.join('\n')
}

async function pullAll(place: Place): Promise<string> {
  const { folder } = ownOf(place)
  const { team, providers } = sourcesOf(place.config.fingerprints)
  if (team === null && providers.length === 0) {
    throw new UsageError('no fingerprints.team and no fingerprints.providers are configured')
  }
  const lines: string[] = []
  if (team !== null) {
    const document = await pullTeam(team)
    await writeFile(join(folder, TEAM_FILE), JSON.stringify(document))
    lines.push(`team ${team.team}: ${document.fingerprints.length} endpoints`)
  }
  for (const { name, from, servers } of providers) {
    const document = ofProvider(await pullProvider(from), servers)
    await writeFile(join(folder, providerFile(name)), JSON.stringify(document))
    lines.push(`provider ${name}: ${document.fingerprints.length} endpoints`)
  }
  return lines.join('\n')
}

/** The tenant's folder, and the names that it goes by elsewhere. */
function ownOf({ config, values }: Place) {
  const tenant = text(values, 'tenant') ?? 'local'
  const key = readTelemetryKey(config.data_dir)
  if (key === null) throw new UsageError(`${config.data_dir} has no telemetry`)
  const folder = join(fingerprintsFolder(config.data_dir), tenantFolder(key, tenant))
  // Keyed, so that two services cannot see that they have the same member.
  const memberFor = (at: string) => `m${tenantFolder(key, `${tenant} member ${at}`)}`
  return { folder, memberFor }
}
