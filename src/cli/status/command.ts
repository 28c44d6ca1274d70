import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { type Env, processEnv } from '../../config/env.ts'
import { homeFolder } from '../../config/user-folders.ts'
import { defineCommand } from '../../console/command.ts'
import { loadDataConfig } from '../../console/data-folder.ts'
import { identifyService } from '../../console/identify-service.ts'
import { jsonOption } from '../../console/options.ts'
import { readConfigFile } from '../../console/replace-file.ts'
import { DEFAULT_SERVICE_URL, serviceOptions } from '../../console/service-client.ts'
import { alignColumns } from '../../console/table.ts'
import { LEDGER_FILE } from '../../runtime/data-files.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { ownInstallation } from '../../runtime/installation.ts'
import { VERSION } from '../../runtime/version.ts'
import { runningRuns } from '../run/temporary-folder.ts'
import { AGENTS } from '../setup/agents.ts'

/** The exit code if no service answers, as that of `systemctl status`. */
const NOTHING_RUNS = 3

interface Status {
  readonly version: string
  /** The installed versions, the current one first; empty if this is a clone or a package. */
  readonly installed: readonly string[]
  /** `reason`: why it does not run. */
  readonly services: readonly {
    readonly url: string
    readonly runs: boolean
    readonly reason?: string
  }[]
  /** Process ids of `haversack run`. */
  readonly runs: readonly number[]
  readonly agents: readonly { readonly name: string; readonly state: string }[]
  /** `null`: nothing has been recorded yet. */
  readonly ledger: { readonly file: string; readonly bytes: number } | null
}

export const statusCommand = defineCommand({
  name: 'status',
  details:
    'Asks HAVERSACK_URL, the address that the configuration has, and the default one; with --url ' +
    'that alone. The exit code is 3 if nothing runs. haversack doctor checks more.',
  examples: ['status', 'status --json'],
  operands: '',
  maxOperands: 0,
  options: {
    url: { ...serviceOptions.url, help: 'Only this service' },
    ...jsonOption,
  },
  async run({ url, json }) {
    const env = processEnv()
    const config = loadDataConfig({ data: undefined })
    const urls = url === undefined ? knownUrls(env, config) : [url.replace(/\/+$/, '')]
    const asked = await Promise.all(
      urls.map(async each => ({ url: each, ...(await stateOf(each)) })),
    )
    const services = asked.filter(({ runs }) => runs)
    const runs = url === undefined ? runningRuns() : []
    const status: Status = {
      version: VERSION,
      installed: installedVersions(),
      services: services.length + runs.length > 0 ? services : asked.slice(0, 1),
      runs,
      agents: Object.keys(AGENTS).map(name => ({ name, state: agentState(name, env) })),
      ledger: ledgerOf(config),
    }
    process.stdout.write(`${json ? JSON.stringify(status) : linesOf(status).join('\n')}\n`)
    return services.length + runs.length > 0 ? EXIT.ok : NOTHING_RUNS
  },
})

/** Where a service of this user may be, the likeliest first. */
function knownUrls(env: Env, { host, port }: Config): readonly string[] {
  const named = (env['HAVERSACK_URL'] ?? '').replace(/\/+$/, '')
  // What listens on all addresses answers on that of this machine.
  const reached = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host
  const own = `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
  return [...new Set([named, own, DEFAULT_SERVICE_URL])].filter(Boolean)
}

async function stateOf(url: string): Promise<{ runs: boolean; reason?: string }> {
  try {
    await identifyService(url)
    return { runs: true }
  } catch (error) {
    const { message, cause } = error as Error
    const reason = cause === undefined ? message : 'does not run; start it with: haversack serve'
    return { runs: false, reason }
  }
}

function installedVersions(): readonly string[] {
  const place = ownInstallation()
  if (place === null) return []
  const versions = join(place.folder, 'versions')
  const own = basename(join(import.meta.dirname, '..', '..'))
  const names = readdirSync(versions).filter(name => !name.startsWith('.'))
  return names.toSorted((a, b) => Number(b === own) - Number(a === own))
}

function agentState(name: string, env: Env): string {
  const agent = AGENTS[name] as (typeof AGENTS)[string]
  try {
    const text = readConfigFile(agent.file(env)) ?? ''
    const [url] = agent.baseUrlsIn(text)
    const hook = agent.hook?.commandIn(text)
    if (url !== undefined) return `requests go to ${URL.parse(url)?.origin ?? 'what is no URL'}`
    return hook === undefined ? 'not set up' : `has the hook, for ${hook.service}`
  } catch {
    return 'its file cannot be read: haversack doctor says why'
  }
}

function ledgerOf({ data_dir }: Config): Status['ledger'] {
  const file = join(data_dir, LEDGER_FILE)
  return existsSync(file) ? { file, bytes: statSync(file).size } : null
}

/** At most 60 columns, but for long paths and URLs. */
function linesOf({
  version,
  installed,
  services,
  runs,
  agents,
  ledger,
}: Status): readonly string[] {
  const [current, ...earlier] = installed
  const kept = earlier.length === 0 ? '' : ` (also kept: ${earlier.join(', ')})`
  const used = agents.filter(({ state }) => state !== 'not set up')
  const rows = [
    ['version', current === undefined ? version : `${current}${kept}`],
    ...services.map(({ url, reason = 'runs' }) => ['service', `${url} ${reason}`]),
    ...runs.map(pid => ['run', `process ${pid}: an agent behind a proxy of its own`]),
    ...(used.length === 0
      ? [['agents', 'none is set up: haversack setup AGENT']]
      : used.map(({ name, state }) => ['agent', `${name}: ${state}`])),
    [
      'ledger',
      ledger === null ? 'nothing recorded yet' : `${shown(ledger.file)}, ${size(ledger.bytes)}`,
    ],
  ]
  return alignColumns(rows)
}

function shown(path: string): string {
  const home = homeFolder()
  return home !== null && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
}
