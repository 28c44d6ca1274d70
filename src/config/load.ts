import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { modelFaults } from '../core/enrich/models.ts'
import { isTable, valueAt } from '../core/pipeline/profile/key-path.ts'
import { readPlainText } from '../files/read-plain-file.ts'
import { type Config, configSchema } from './config.ts'
import { describeIssue } from './describe-issue.ts'
import type { Env } from './env.ts'
import { ENV_KEYS, FILE_SUFFIX, overlayEnv, type Tree, unknownVariables } from './env-keys.ts'
import { isLoopback } from './loopback.ts'
import { loadMinedModels } from './mined-models.ts'
import { ConfigError, faultOfFile, readToml, type TomlFile } from './read-toml.ts'
import { modelLayers } from './shipped-models.ts'
import { lineOf } from './toml-lines.ts'
import { withHome } from './user-folders.ts'

export interface LoadOptions {
  readonly env: Env
  /** The TOML file, instead of the one that `HAVERSACK_CONFIG` names. */
  readonly file?: string
  /** Laid over the file and the environment: what the command line has. */
  readonly overrides?: Tree
  /** Allow an address that others can reach without keys. */
  readonly insecure?: boolean
}

/**
 * The configuration from defaults, the TOML file named by `HAVERSACK_CONFIG`, the environment and
 * the command line; later ones take precedence.
 * @throws ConfigError with every fault at once
 */
export function loadConfig(options: LoadOptions): Config {
  const { env, overrides = {}, insecure = false } = options
  const file = options.file ?? env['HAVERSACK_CONFIG']
  const read = file === undefined || file === '' ? null : readToml(withHome(file))
  const tree = read?.tree ?? {}
  const whole = overlayEnv({ ...tree, ...overrides }, { ...withSecrets(env), ...unset(overrides) })
  // To compile a parser takes twice as long as one reading.
  const parsed = configSchema.safeParse(whole, { jitless: true })
  const unknown = unknownVariables(env)
  const wrong = parsed.success
    ? []
    : parsed.error.issues.flatMap(issue => describe(issue, whole, read))
  if (!parsed.success || unknown.length > 0) throw new ConfigError([...wrong, ...unknown])
  const pipelineFile = env['HAVERSACK_PIPELINE_CONFIG']
  const config: Config = {
    ...parsed.data,
    ...(pipelineFile && { pipeline_config_file: withHome(pipelineFile) }),
  }
  const faults = crossChecks(config, insecure)
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}

/** Removes variables that the command line overrides, so that they do not replace its values. */
function unset(overrides: Tree): Env {
  const hidden = ENV_KEYS.filter(
    ({ path }) => path.length === 1 && (path[0] as string) in overrides,
  )
  return Object.fromEntries(hidden.map(({ name }) => [name, undefined]))
}

/** The environment, with the secrets read from the files that it names. */
function withSecrets(env: Env): Env {
  const read = ENV_KEYS.filter(({ name, secret }) => secret && env[name + FILE_SUFFIX])
  const twice = read.filter(({ name }) => env[name])
  if (twice.length > 0) {
    throw new ConfigError(twice.map(({ name }) => `${name}: is set beside ${name}${FILE_SUFFIX}`))
  }
  return {
    ...env,
    ...Object.fromEntries(
      read.map(({ name }) => [name, readSecret(name + FILE_SUFFIX, env[name + FILE_SUFFIX] ?? '')]),
    ),
  }
}

function readSecret(variable: string, file: string): string {
  try {
    const secret = readPlainText(withHome(file)).trim()
    if (secret !== '') return secret
  } catch (error) {
    throw new ConfigError([`${variable}: ${file} ${faultOfFile(error)}`])
  }
  // If an empty secret counted as unset, the service would run without the protection that it is
  // for.
  throw new ConfigError([`${variable}: ${file} is empty`])
}

/** What is wrong, with its line if the file has it; each unknown key has its own. */
function describe(issue: z.core.$ZodIssue, whole: Tree, read: TomlFile | null): string[] {
  const keys = issue.code === 'unrecognized_keys' ? issue.keys : [null]
  return keys.map(key => {
    const one = key === null ? issue : { ...issue, keys: [key] }
    const at = key === null ? issue.path : [...issue.path, key]
    const said = read === null ? undefined : valueAt(read.tree, at)
    // A variable or the command line may have replaced what the file says.
    const isSame = said !== undefined && isDeepStrictEqual(said, valueAt(whole, at))
    const isOfFile = isTable(said) || isSame
    const place = read !== null && isOfFile ? `${read.file}: line ${lineOf(read.source, at)}: ` : ''
    const path = issue.path.map(String).join('.')
    const name = ENV_KEYS.find(each => each.path.join('.') === path)?.name
    const variable = name === undefined ? '' : ` (${name})`
    const fault = describeIssue(one as z.core.$ZodIssue, configSchema)
    return `${place}${path || '(top level)'}${variable}: ${fault}`
  })
}

/** The store keeps no body that is larger than this part of it. */
const STORE_BODIES = 16

function crossChecks(config: Config, insecure: boolean): string[] {
  const { limits, host, store } = config
  const faults = loadMinedModels(config)
  for (const item of modelFaults(modelLayers(config))) faults.push(item)
  const largest = Math.floor(store.max_bytes / STORE_BODIES)
  if (largest < limits.max_body_bytes) {
    faults.push(
      `store.max_bytes: must be at least ${STORE_BODIES} times limits.max_body_bytes, so that every input has room`,
    )
  }
  const ids = store.encryption_keys.map(({ id }) => id)
  if (new Set(ids).size < ids.length) {
    faults.push('store.encryption_keys (HAVERSACK_STORE_KEYS): two keys have the same id')
  }
  if (config.keys_file === undefined && !insecure && !isLoopback(host)) {
    faults.push(
      `host (HAVERSACK_HOST): ${host} can be reached by others and no keys protect it; use a loopback address, keys_file (HAVERSACK_KEYS_FILE) or --insecure`,
    )
  }
  return faults
}
