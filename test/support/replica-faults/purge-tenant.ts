import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

/** Purges all that the store has of a tenant. @returns whether that is acknowledged */
export type TenantPurge = () => Promise<boolean>

/** The purge of a tenant by an operator's command. @param env of the command */
export function tenantPurge(tenant: string, env: NodeJS.ProcessEnv): TenantPurge {
  return async () => {
    const args = [CLI, 'store', 'purge', '--tenant', tenant]
    const command = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: 'ignore',
    })
    const [code] = await once(command, 'exit')
    return code === 0
  }
}

/**
 * Files with telemetry of a tenant, in data folders. Its folder's name is made of the key that is
 * beside it.
 */
export function filesOfTenant(folders: readonly string[], tenant: string): readonly string[] {
  return folders.flatMap(folder => {
    const key = unlessMissing(() => readFileSync(join(folder, 'telemetry.key')), null)
    if (key === null) return []
    const name = createHmac('sha256', key).update(`folder ${tenant}`).digest('hex').slice(0, 16)
    const own = join(folder, 'telemetry', name)
    const options = { recursive: true, withFileTypes: true } as const
    const entries = unlessMissing(() => readdirSync(own, options), [])
    return entries.filter(each => each.isFile()).map(each => join(each.parentPath, each.name))
  })
}

/** A service may delete what is read. */
function unlessMissing<Found, None>(read: () => Found, none: None): Found | None {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return none
    throw error
  }
}
