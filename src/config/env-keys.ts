import { OWN_DIALECTS } from '../core/dialects/lookup.ts'
import type { Env } from './env.ts'
import { didYouMean } from './nearest-name.ts'

/** A variable of the environment and the configuration key that it sets. */
interface EnvKey {
  readonly name: string
  readonly path: readonly string[]
  readonly type: 'text' | 'integer' | 'list'
  /** The value may be in a file, which the variable with the suffix `_FILE` names. */
  readonly secret?: true
}

/** `HAVERSACK_CONFIG` names the TOML file and is read before these. */
export const ENV_KEYS: readonly EnvKey[] = [
  { name: 'HAVERSACK_HOST', path: ['host'], type: 'text' },
  { name: 'HAVERSACK_PORT', path: ['port'], type: 'integer' },
  { name: 'HAVERSACK_DATA_DIR', path: ['data_dir'], type: 'text' },
  {
    name: 'HAVERSACK_STORE_KEYS',
    path: ['store', 'encryption_keys'],
    type: 'list',
    secret: true,
  },
  { name: 'HAVERSACK_REDIS_URL', path: ['store', 'redis', 'url'], type: 'text', secret: true },
  { name: 'HAVERSACK_REDIS_CLUSTER', path: ['store', 'redis', 'cluster'], type: 'text' },
  { name: 'HAVERSACK_KEYS_FILE', path: ['keys_file'], type: 'text' },
  ...OWN_DIALECTS.map(({ name }): EnvKey => {
    return {
      name: `HAVERSACK_${name.toUpperCase()}_URL`,
      path: ['proxy', `${name}_url`],
      type: 'text',
    }
  }),
  { name: 'HAVERSACK_OPENAI_PATHS', path: ['proxy', 'openai_paths'], type: 'text' },
  { name: 'HAVERSACK_WORKERS', path: ['workers', 'count'], type: 'integer' },
  { name: 'HAVERSACK_MAX_BODY_BYTES', path: ['limits', 'max_body_bytes'], type: 'integer' },
  { name: 'HAVERSACK_LOG_LEVEL', path: ['log', 'level'], type: 'text' },
]

/**
 * Variables that the command line reads. Every other unknown variable of this prefix is a fault.
 */
const OTHER_KEYS = [
  'HAVERSACK_CONFIG',
  'HAVERSACK_CACHE_DIR',
  'HAVERSACK_PIPELINE_CONFIG',
  'HAVERSACK_CORPUS',
  'HAVERSACK_URL',
  'HAVERSACK_KEY',
]

/**
 * One fault for each `HAVERSACK_…` variable that this version does not read. If a misspelt variable
 * was ignored, the service would run with settings that its user did not choose.
 */
export function unknownVariables(env: Env): string[] {
  const files = ENV_KEYS.filter(({ secret }) => secret).map(({ name }) => name + FILE_SUFFIX)
  const known = new Set([...OTHER_KEYS, ...files, ...ENV_KEYS.map(({ name }) => name)])
  return Object.keys(env)
    .filter(name => name.startsWith('HAVERSACK_') && env[name] !== '' && !known.has(name))
    .filter(name => !isOfCluster(name, env[name]))
    .map(name => `${name}: this version has no such setting${didYouMean(name, known)}`)
}

/**
 * Whether Kubernetes or Docker made a variable of a service that is named `haversack`, or begins
 * with that: every pod of its namespace has them, and no person has set them.
 */
function isOfCluster(name: string, value = ''): boolean {
  return OF_SERVICES.test(name) || (name.endsWith('_PORT') && /^(?:tcp|udp|sctp):\/\//.test(value))
}

const OF_SERVICES = new RegExp(
  '^HAVERSACK_(?:\\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\\w+)?|' +
    'PORT_\\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$',
)

/** Ends the name of a variable that names a file with a secret. */
export const FILE_SUFFIX = '_FILE'

/** Nested plain data, as TOML parses to. */
export type Tree = { [key: string]: unknown }

/** Lays the variables that are set over `tree`; empty ones count as unset. Returns a new tree. */
export function overlayEnv(tree: Tree, env: Env): Tree {
  const result = structuredClone(tree)
  for (const { name, path, type } of ENV_KEYS) {
    const text = env[name]
    if (text === undefined || text === '' || isOfCluster(name, text)) continue
    setPath(result, path, parse(text, type))
  }
  return result
}

/** A number that is none stays text, so that validation names the key. */
function parse(text: string, type: EnvKey['type']): unknown {
  if (type === 'list') return text.split(',').map(item => item.trim())
  return type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
}

function setPath(tree: Tree, path: readonly string[], value: unknown): void {
  const [head, ...rest] = path
  if (head === undefined) return
  if (rest.length === 0) {
    tree[head] = value
    return
  }
  const inner = tree[head]
  const next: Tree = typeof inner === 'object' && inner !== null ? (inner as Tree) : {}
  tree[head] = next
  setPath(next, rest, value)
}
