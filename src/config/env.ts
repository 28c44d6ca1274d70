/** A variable of the environment and the configuration key that it sets. */
interface EnvKey {
  readonly name: string
  readonly path: readonly string[]
  readonly type: 'text' | 'integer'
}

/** `HAVERSACK_CONFIG` names the TOML file and is read before these. */
export const ENV_KEYS: readonly EnvKey[] = [
  { name: 'HAVERSACK_HOST', path: ['host'], type: 'text' },
  { name: 'HAVERSACK_PORT', path: ['port'], type: 'integer' },
  { name: 'HAVERSACK_CACHE_DIR', path: ['cache_dir'], type: 'text' },
  { name: 'HAVERSACK_KEYS_FILE', path: ['keys_file'], type: 'text' },
  { name: 'HAVERSACK_WORKERS', path: ['workers', 'count'], type: 'integer' },
  { name: 'OTEL_EXPORTER_OTLP_ENDPOINT', path: ['traces', 'endpoint'], type: 'text' },
  { name: 'HAVERSACK_MAX_BODY_BYTES', path: ['limits', 'max_body_bytes'], type: 'integer' },
  { name: 'HAVERSACK_LOG_LEVEL', path: ['log', 'level'], type: 'text' },
]

/** Read elsewhere, or for what a later version keeps; everything else that is named so is a fault. */
const OTHER_KEYS = ['HAVERSACK_CONFIG', 'HAVERSACK_DATA_DIR', 'HAVERSACK_CORPUS']

/**
 * One fault for each `HAVERSACK_…` variable that this version does not read. To pass over a misspelt
 * one would leave its user with a service that is not what they set.
 */
export function unknownVariables(env: Env): string[] {
  const known = new Set([...OTHER_KEYS, ...ENV_KEYS.map(({ name }) => name)])
  return Object.keys(env)
    .filter(name => name.startsWith('HAVERSACK_') && env[name] !== '' && !known.has(name))
    .map(name => `${name}: this version has no such setting`)
}

export type Env = Readonly<Record<string, string | undefined>>

/** Nested plain data, as TOML parses to. */
export type Tree = { [key: string]: unknown }

/** Lays the variables that are set over `tree`; empty ones count as unset. Returns a new tree. */
export function overlayEnv(tree: Tree, env: Env): Tree {
  const result = structuredClone(tree)
  for (const { name, path, type } of ENV_KEYS) {
    const text = env[name]
    if (text === undefined || text === '') continue
    // A number that is none stays text, so that validation names the key.
    const value = type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text
    setPath(result, path, value)
  }
  return result
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

/** The process's environment: read here and nowhere else. */
export function processEnv(): Env {
  return process.env
}
