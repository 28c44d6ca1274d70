import type { Config } from '../config/config.ts'
import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { purgeTenantFiles } from '../service/purge-tenant-files.ts'
import { openConfiguredStore } from '../service/store.ts'
import { failureProblem } from '../store/failure.ts'
import type { Result, Store, StoreEvent, VerifyStep } from '../store/store.ts'
import { type Command, text, UsageError, type Values } from './command.ts'
import { jsonOption } from './options.ts'
import { alignColumns } from './table.ts'

/** Bodies that are read between two looks at the clock of the waiting caller. */
const VERIFY_STEP = 200

type Action = (store: Store, values: Values, config: Config) => Promise<Record<string, unknown>>

const ACTIONS: Readonly<Record<string, Action>> = {
  async stats(store, values) {
    const tenant = text(values, 'tenant')
    const { ok: _, file, counters: __, ...own } = demand(await store.stats(tenant))
    return { ...own, ...file }
  },
  prune: async store => removed(await store.prune()),
  async verify(store) {
    const sum = { checked: 0, damaged: 0 }
    let cursor: number | null = 0
    while (cursor !== null) {
      const step: VerifyStep = demand(await store.verify(VERIFY_STEP, cursor))
      sum.checked += step.checked
      sum.damaged += step.damaged
      cursor = step.cursor
    }
    return sum
  },
  async purge(store, values, { data_dir }) {
    const tenant = text(values, 'tenant')
    const session = text(values, 'session')
    if (tenant === undefined) throw new UsageError('purge needs --tenant')
    if (session !== undefined) return removed(await store.purgeSession(tenant, session))
    const inStore = removed(await store.purgeTenant(tenant))
    return { ...inStore, ...(await purgeTenantFiles(data_dir, tenant)) }
  },
}

export const storeCommand: Command = {
  name: 'store',
  summary: 'Look after the kept originals of this data folder, beside a running service or without',
  operands: Object.keys(ACTIONS).join(' | '),
  maxOperands: 1,
  options: {
    data: { type: 'string', value: 'FOLDER', help: 'Data folder (default HAVERSACK_DATA_DIR)' },
    tenant: {
      type: 'string',
      value: 'NAME',
      help: 'stats, purge: whose; purge deletes telemetry and fingerprints of the tenant too',
    },
    session: {
      type: 'string',
      value: 'ID',
      help: 'purge: only what the store has of this session of the tenant',
    },
    ...jsonOption,
  },
  async run(values, [name]) {
    const action = name !== undefined && Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined
    if (action === undefined) {
      throw new UsageError(`store takes one of ${Object.keys(ACTIONS).join(', ')}`)
    }
    const onEvent = (event: StoreEvent) =>
      process.stderr.write(`haversack: ${JSON.stringify(event)}\n`)
    const config = configOf(values)
    const store = await openConfiguredStore(config, onEvent, { mustExist: true })
    try {
      const figures = await action(store, values, config)
      process.stdout.write(
        values['json'] === true
          ? `${JSON.stringify(figures)}\n`
          : `${alignColumns(Object.entries(figures).map(row => row as [string, number])).join('\n')}\n`,
      )
      return figures['damaged'] === undefined || figures['damaged'] === 0 ? EXIT.ok : EXIT.failed
    } finally {
      await store.close()
    }
  },
}

function configOf(values: Values): Config {
  const folder = text(values, 'data')
  const overrides = folder === undefined ? {} : { data_dir: folder }
  return loadConfig({ env: processEnv(), overrides, insecure: true })
}

function removed(result: Result<{ bodies: number; records: number }>): Record<string, number> {
  const { bodies, records } = demand(result)
  return { bodies, records }
}

function demand<T>(result: Result<T>): T & { readonly ok: true } {
  if (result.ok) return result
  throw new Error(failureProblem(result).detail)
}
