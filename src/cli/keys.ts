import { type KeyRecord, makeKey, SCOPES, type Scope, TENANT_NAME } from '../access/key-record.ts'
import { changeKeysFile, readKeysFile } from '../access/keys-file.ts'
import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { teamName } from '../core/fingerprints/upload.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { type Command, text, UsageError, type Values } from './command.ts'
import { jsonOption } from './options.ts'
import { alignColumns } from './table.ts'

export const keysCommand: Command = {
  name: 'keys',
  summary: 'Manage the keys of clients; `add` prints a new key once, the file keeps only its hash',
  operands: 'add | list | revoke ID',
  maxOperands: 2,
  options: {
    file: { type: 'string', value: 'FILE', help: 'Keys file (default HAVERSACK_KEYS_FILE)' },
    tenant: { type: 'string', value: 'NAME', help: 'add: whose key it is (default local)' },
    scopes: {
      type: 'string',
      value: 'LIST',
      help: `add: what it is for (default encode,retrieve), of ${SCOPES.join(', ')}`,
    },
    rate: { type: 'string', value: 'N', help: 'add: requests a second in the long run' },
    burst: { type: 'string', value: 'N', help: 'add: requests at once after a pause' },
    concurrent: { type: 'string', value: 'N', help: 'add: requests at the same time' },
    redeems: { type: 'boolean', help: 'add: its client can fetch kept originals' },
    team: {
      type: 'string',
      value: 'LIST',
      help: 'add: the only teams whose fingerprints it may read and write',
    },
    member: { type: 'string', value: 'NAME', help: 'add: the only member it may upload as' },
    note: { type: 'string', value: 'TEXT', help: 'add: for whoever reads the list' },
    ...jsonOption,
  },
  async run(values, [action, id, ...rest]) {
    const file = fileOf(values)
    if (action === 'add' && id === undefined) return add(file, values)
    if (action === 'list' && id === undefined) return list(file, values['json'] === true)
    if (action === 'revoke' && id !== undefined && rest.length === 0) return revoke(file, id)
    throw new UsageError('keys takes add, list, or revoke and an id')
  },
}

function fileOf(values: Values): string {
  const file = text(values, 'file')
  if (file !== undefined) return file
  const configured = loadConfig({ env: processEnv(), insecure: true }).keys_file
  if (configured !== undefined) return configured
  throw new UsageError('which file? give --file or set HAVERSACK_KEYS_FILE')
}

/** The key alone goes to stdout, so that a script can put it where it belongs. */
function add(file: string, values: Values): number {
  const { key, id, sha256 } = makeKey()
  const rate = numberOf(values, 'rate')
  const burst = wholeOf(values, 'burst')
  const concurrent = wholeOf(values, 'concurrent')
  const note = text(values, 'note')
  if (burst !== undefined && rate === undefined) throw new UsageError('--burst needs --rate')
  const scopes = scopesOf(values)
  const record: KeyRecord = {
    id,
    tenant: tenantOf(values),
    sha256,
    scopes,
    redeems: values['redeems'] === true,
    ...(rate === undefined ? {} : { rate_per_s: rate }),
    ...(burst === undefined ? {} : { burst }),
    ...(concurrent === undefined ? {} : { max_concurrent: concurrent }),
    ...teamsOf(values, scopes),
    created_at: Date.now(),
    ...(note === undefined ? {} : { note }),
  }
  changeKeysFile(file, keys => [...keys, record])
  process.stderr.write(
    `key ${id} of ${record.tenant} for ${scopes.join(', ')}; it is shown only now\n`,
  )
  process.stdout.write(`${values['json'] === true ? JSON.stringify({ key, ...record }) : key}\n`)
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

function limitsOf(key: KeyRecord): string {
  const { rate_per_s, burst, max_concurrent, redeems, teams, member } = key
  const parts = [
    rate_per_s === undefined ? '' : `${rate_per_s}/s`,
    burst === undefined ? '' : `burst ${burst}`,
    max_concurrent === undefined ? '' : `${max_concurrent} at once`,
    redeems ? 'redeems' : '',
    teams === undefined ? '' : `team ${teams.join(' ')}`,
    member === undefined ? '' : `member ${member}`,
  ]
  return parts.filter(part => part !== '').join(', ')
}

function tenantOf(values: Values): string {
  const tenant = text(values, 'tenant') ?? 'local'
  if (TENANT_NAME.test(tenant)) return tenant
  throw new UsageError('--tenant takes letters, digits, . _ and -, 63 at most')
}

function scopesOf(values: Values): Scope[] {
  const names = (text(values, 'scopes') ?? 'encode,retrieve').split(',').map(name => name.trim())
  const unknown = names.filter(name => !(SCOPES as readonly string[]).includes(name))
  if (unknown.length > 0) throw new UsageError(`no such scope: ${unknown.join(', ')}`)
  return [...new Set(names)] as Scope[]
}

/** What a key for fingerprints is limited to. */
function teamsOf(values: Values, scopes: readonly Scope[]): Pick<KeyRecord, 'teams' | 'member'> {
  const teams = text(values, 'team')
    ?.split(',')
    .map(name => name.trim())
  const member = text(values, 'member')
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

function numberOf(values: Values, name: string): number | undefined {
  const given = text(values, name)
  if (given === undefined) return undefined
  const number = Number(given)
  if (number > 0 && number <= 1e6) return number
  throw new UsageError(`--${name} takes a number above 0`)
}

function wholeOf(values: Values, name: string): number | undefined {
  const number = numberOf(values, name)
  if (number === undefined || Number.isInteger(number)) return number
  throw new UsageError(`--${name} takes a whole number`)
}
