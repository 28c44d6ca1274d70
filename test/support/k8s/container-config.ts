import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { all, type Manifest, quantity, workload } from './manifest.ts'

const NAMESPACE = 'haversack'

/**
 * The variables of the container as the kubelet would set them, but for the file, which lies here.
 */
export function environment(objects: readonly Manifest[]): Record<string, string> {
  const { container } = workload(objects)
  const entries = (container.env ?? []).map(({ name, value, valueFrom }) => {
    if (value !== undefined) return [name, value]
    if (valueFrom?.fieldRef?.fieldPath === 'metadata.namespace') return [name, NAMESPACE]
    const { resource, divisor } = valueFrom?.resourceFieldRef ?? {}
    if (resource !== 'limits.cpu') throw new Error(`${name}: a value that is not computed here`)
    const limit = quantity(container.resources?.limits?.['cpu'])
    return [name, String(Math.ceil(limit / quantity(divisor)))]
  })
  return Object.fromEntries(entries)
}

/**
 * The configuration that the service would start with.
 * @throws ConfigError if it would not start
 */
export function configOf(objects: readonly Manifest[]): Config {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-config-'))
  try {
    const file = join(folder, 'haversack.toml')
    writeFileSync(file, configMap(objects).data?.['haversack.toml'] ?? '')
    const env = { ...environment(objects), HAVERSACK_CONFIG: file }
    return loadConfig({ env: { ...env, ...standIn(env, join(folder, 'store-keys')) } })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The ConfigMap that holds the service's configuration. */
export function configMap(objects: readonly Manifest[]) {
  const [found] = all(objects, 'ConfigMap').filter(({ data }) => data?.['haversack.toml'])
  if (found === undefined) throw new Error('no ConfigMap with haversack.toml')
  return found
}

/** The folder in the container where the volume of this name is mounted. */
export function mountOf(objects: readonly Manifest[], volume: string): string | undefined {
  return workload(objects).container.volumeMounts?.find(({ name }) => name === volume)?.mountPath
}

/** What stands in Secrets that the guide has one make. */
const SECRETS: Readonly<Record<string, string>> = {
  HAVERSACK_STORE_KEYS_FILE: `test:${Buffer.alloc(32).toString('base64')}\n`,
  HAVERSACK_REDIS_URL_FILE: 'redis+sentinel://haversack:secret@redis-sentinel/haversack\n',
}

/** Files in place of the Secrets' that the container names. */
function standIn(env: Readonly<Record<string, string>>, file: string): Record<string, string> {
  const named = Object.entries(SECRETS).filter(([name]) => env[name] !== undefined)
  return Object.fromEntries(
    named.map(([name, text]) => {
      writeFileSync(`${file}-${name}`, text)
      return [name, `${file}-${name}`]
    }),
  )
}
