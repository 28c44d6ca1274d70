import { type KeyRecord, makeKey, SCOPES, type Scope } from '../../access/key-record.ts'
import { changeKeysFile, readKeysFile } from '../../access/keys-file.ts'
import { processEnv } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import { didYouMean } from '../../config/nearest-name.ts'
import {
  defineActions,
  type Options,
  type Refuse,
  UsageError,
  type ValuesOf,
} from '../../console/command.ts'
import { jsonOption } from '../../console/options.ts'
import { alignColumns } from '../../console/table.ts'
import { TENANT_NAME } from '../../core/base/tenant-name.ts'
import { teamName } from '../../core/fingerprints/upload.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { tellReplicas } from '../../service/replicas/notices.ts'
import { openConfiguredStore } from '../../service/store.ts'

/** Most requests of a limit. */
const MAX_RATE = 1e6
const DEFAULT_SCOPES: Scope[] = ['encode', 'retrieve']

const options = {
  file: { type: 'string', value: 'FILE', help: 'Keys file (default HAVERSACK_KEYS_FILE)' },
  tenant: {
    type: 'string',
    value: 'NAME',
    actions: ['add'],
    help: 'whose key it is (default local)',
    read: readTenant,
  },
  scopes: {
    type: 'string',
    value: 'LIST',
    actions: ['add'],
    help: `what it is for (default encode,retrieve), of ${SCOPES.join(', ')}`,
    read: readScopes,
  },
  rate: {
    type: 'string',
    value: 'N',
    actions: ['add'],
    help: 'requests a second in the long run',
    read: readRate,
  },
  burst: {
    type: 'string',
    value: 'N',
    actions: ['add'],
    help: 'requests at once after a pause',
    read: readCount,
  },
  concurrent: {
    type: 'string',
    value: 'N',
    actions: ['add'],
    help: 'requests at the same time',
    read: readCount,
  },
  redeems: {
    type: 'boolean',
    actions: ['add'],
    help: 'its client can fetch kept originals',
  },
  references: {
    type: 'boolean',
    actions: ['add'],
    help: 'its client sends whole conversations to /v1/compress',
  },
  project: {
    type: 'string',
    value: 'NAME',
    actions: ['add'],
    help: 'the project whose configuration its requests get',
    read: readTenant,
  },
  team: {
    type: 'string',
    value: 'LIST',
    actions: ['add'],
    help: 'the only teams whose fingerprints it may read and write',
  },
  member: {
    type: 'string',
    value: 'NAME',
    actions: ['add'],
    help: 'the only member it may upload as',
  },
  replicas: {
    type: 'boolean',
    actions: ['revoke'],
    help: 'tell all replicas on the configured Redis at once, and leave the file as it is',
  },
  note: { type: 'string', value: 'TEXT', actions: ['add'], help: 'a note, shown in the list' },
  ...jsonOption,
} as const satisfies Options

type KeysValues = ValuesOf<typeof options>

export const keysCommand = defineActions({
  name: 'keys',
  examples: [
    'keys add --tenant team-a --scopes proxy --file keys.json',
    'keys list --file keys.json',
  ],
  options,
  actions: {
    add: { run: values => add(fileOf(values), values) },
    list: { run: values => list(fileOf(values), values.json) },
    revoke: {
      operands: { text: 'ID', min: 1, max: 1 },
      run: (values, [id = '']) =>
        values.replicas ? revokeEverywhere(fileOf(values), id) : revoke(fileOf(values), id),
    },
  },
  wrongAction: 'keys takes add, list, or revoke and an id',
})

function fileOf({ file }: KeysValues): string {
  if (file !== undefined) return file
  const configured = loadConfig({ env: processEnv(), insecure: true }).keys_file
  if (configured !== undefined) return configured
  throw new UsageError('which file? give --file or set HAVERSACK_KEYS_FILE')
}

/** The key alone goes to stdout, so that a script can put it where it belongs. */
function add(file: string, values: KeysValues): number {
  const { key, id, sha256 } = makeKey()
  const { tenant = 'local', scopes = DEFAULT_SCOPES, rate, burst, concurrent, note } = values
  if (burst !== undefined && rate === undefined) throw new UsageError('--burst needs --rate')
  const record: KeyRecord = {
    id,
    tenant,
    sha256,
    scopes,
    redeems: values.redeems,
    ...(values.references ? { references: true } : {}),
    ...(rate === undefined ? {} : { rate_per_s: rate }),
    ...(burst === undefined ? {} : { burst }),
    ...(concurrent === undefined ? {} : { max_concurrent: concurrent }),
    ...(values.project === undefined ? {} : { project: values.project }),
    ...teamsOf(values, scopes),
    created_at: Date.now(),
    ...(note === undefined ? {} : { note }),
  }
  changeKeysFile(file, keys => [...keys, record])
  process.stderr.write(
    `key ${id} of ${record.tenant} for ${scopes.join(', ')}; it is shown only now\n`,
  )
  process.stdout.write(`${values.json ? JSON.stringify({ key, ...record }) : key}\n`)
  return EXIT.ok
}

function list(file: string, asJson: boolean): number {
  const keys = readKeysFile(file)
  if (asJson) {
    process.stdout.write(`${JSON.stringify(keys)}\n`)
    return EXIT.ok
  }
  const rows = keys.map(key => [
    key.id,
    key.tenant,
    key.scopes.join(','),
    limitsOf(key),
    new Date(key.created_at).toISOString().slice(0, 10),
    key.note ?? '',
  ])
  const header = ['id', 'tenant', 'scopes', 'limits', 'created', 'note']
  process.stdout.write(`${alignColumns([header, ...rows]).join('\n')}\n`)
  return EXIT.ok
}

function revoke(file: string, id: string): number {
  changeKeysFile(file, keys => {
    const rest = keys.filter(key => key.id !== id)
    // Thrown in here, so that the file stays as it is, or stays missing.
    if (rest.length === keys.length) throw new Error(`no key ${id} in ${file}`)
    return rest
  })
  process.stderr.write(`key ${id} is revoked\n`)
  return EXIT.ok
}

/** For a file that a Secret mounts, which no process can write. */
async function revokeEverywhere(file: string, id: string): Promise<number> {
  const config = loadConfig({ env: processEnv(), insecure: true })
  if (config.store.redis === undefined) throw new UsageError('--replicas needs store.redis')
  const key = readKeysFile(file).find(each => each.id === id)
  if (key === undefined) throw new Error(`no key ${id} in ${file}`)
  const store = await openConfiguredStore(config, () => {}, { mustExist: true })
  try {
    const { sha256 } = key
    const stays = config.store.redis.durability === 'primary'
    const told = await tellReplicas(store, [{ kind: 'revoke', sha256 }], Date.now(), stays)
    if (!told.ok) throw new Error(told.detail)
  } finally {
    await store.close()
  }
  process.stderr.write(`key ${id} is revoked for a day; remove it from ${file} before that\n`)
  return EXIT.ok
}

function limitsOf(key: KeyRecord): string {
  const { rate_per_s, burst, max_concurrent, redeems, references, project, teams, member } = key
  const parts = [
    rate_per_s === undefined ? '' : `${rate_per_s}/s`,
    burst === undefined ? '' : `burst ${burst}`,
    max_concurrent === undefined ? '' : `${max_concurrent} at once`,
    redeems ? 'redeems' : '',
    references ? 'references' : '',
    project === undefined ? '' : `project ${project}`,
    teams === undefined ? '' : `team ${teams.join(' ')}`,
    member === undefined ? '' : `member ${member}`,
  ]
  return parts.filter(part => part !== '').join(', ')
}

function readTenant(given: string, refuse: Refuse): string {
  return TENANT_NAME.test(given) ? given : refuse('letters, digits, . _ and -, 63 at most')
}

function readScopes(given: string): Scope[] {
  const names = given.split(',').map(name => name.trim())
  const unknown = names.filter(name => !(SCOPES as readonly string[]).includes(name))
  if (unknown.length > 0) {
    const near = unknown.length === 1 ? didYouMean(unknown[0] as string, SCOPES) : ''
    throw new UsageError(`no such scope: ${unknown.join(', ')}${near}`)
  }
  return [...new Set(names)] as Scope[]
}

function readRate(given: string, refuse: Refuse): number {
  const rate = Number(given)
  return rate > 0 && rate <= MAX_RATE ? rate : refuse('a number above 0')
}

function readCount(given: string, refuse: Refuse): number {
  const count = readRate(given, refuse)
  return Number.isInteger(count) ? count : refuse('a whole number')
}

/** The teams and the member that a key for fingerprints is limited to. */
function teamsOf(
  { team, member }: KeysValues,
  scopes: readonly Scope[],
): Pick<KeyRecord, 'teams' | 'member'> {
  const teams = team?.split(',').map(name => name.trim())
  if (teams === undefined && member === undefined) return {}
  if (!scopes.some(scope => scope.startsWith('fingerprints:'))) {
    throw new UsageError('--team and --member are for keys with fingerprints:read or :write')
  }
  const wrong = [...(teams ?? []), ...(member === undefined ? [] : [member])].find(
    name => !teamName.safeParse(name).success,
  )
  if (wrong !== undefined) {
    throw new UsageError('--team and --member take letters, digits, . _ @ + and -, 64 at most')
  }
  return {
    ...(teams === undefined ? {} : { teams: [...new Set(teams)] }),
    ...(member === undefined ? {} : { member }),
  }
}
