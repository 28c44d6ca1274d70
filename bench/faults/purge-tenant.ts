import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
