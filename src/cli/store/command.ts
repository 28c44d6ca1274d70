import type { Config } from '../../config/config.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { dataOption, loadDataConfig } from '../../console/data-folder.ts'
import { jsonOption } from '../../console/options.ts'
import { alignColumns } from '../../console/table.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { purgeTenantFiles } from '../../service/book/purge-tenant-files.ts'
import { tellReplicas } from '../../service/replicas/notices.ts'
import { openConfiguredStore } from '../../service/store.ts'
import type { Result, Store, VerifyStep } from '../../store/store.ts'
import { failureProblem } from '../../store/values/failure.ts'
import type { StoreEvent } from '../../store/values/store-event.ts'

/** Bodies that one step reads, so that other calls do not wait long. */
const VERIFY_STEP = 200

const options = {
  ...dataOption,
  tenant: {
    type: 'string',
    value: 'NAME',
    actions: ['stats', 'purge'],
    help: 'whose; purge also deletes its telemetry, fingerprints and ledger, on all replicas',
  },
  session: {
    type: 'string',
    value: 'ID',
    actions: ['purge'],
    help: 'only what the store has of this session of the tenant',
  },
  ...jsonOption,
} as const satisfies Options

type StoreValues = ValuesOf<typeof options>
type Figures = Readonly<Record<string, unknown>>

export const storeCommand = defineActions({
  name: 'store',
  examples: ['store stats', 'store purge --tenant team-a'],
  options,
  actions: {
    stats: onStore(stats),
    prune: onStore(async store => removed(await store.prune())),
    verify: onStore(verify),
    purge: onStore(purge),
    check: onStore(check),
  },
})

/** An action on the store of the data folder, whose figures are printed. */
function onStore(action: (store: Store, values: StoreValues, config: Config) => Promise<Figures>) {
  const run = async (values: StoreValues): Promise<number> => {
    const onEvent = (event: StoreEvent) =>
      process.stderr.write(`haversack: ${JSON.stringify(event)}\n`)
    const config = loadDataConfig(values)
    const store = await openConfiguredStore(config, onEvent, { mustExist: true })
    try {
      const figures = await action(store, values, config)
      const rows = Object.entries(figures) as [string, number][]
      const text = values.json ? JSON.stringify(figures) : alignColumns(rows).join('\n')
      process.stdout.write(`${text}\n`)
      const faults = figures['damaged'] ?? figures['problems'] ?? 0
      return faults === 0 ? EXIT.ok : EXIT.failed
    } finally {
      await store.close()
    }
  }
  return { run }
}

async function stats(store: Store, { tenant }: StoreValues): Promise<Figures> {
  const { ok: _, file, counters: __, ...own } = demand(await store.stats(tenant))
  return { ...own, ...file }
}

/** Before an upgrade, run by the new version. Without a shared store there is nothing to check. */
async function check(store: Store): Promise<Figures> {
  if (store.check === undefined) return { shared: 0, problems: 0 }
  const { ok: _, problems, ...figures } = demand(await store.check())
  for (const problem of problems) process.stderr.write(`haversack: ${problem}\n`)
  return { shared: 1, ...figures, problems: problems.length }
}

async function verify(store: Store): Promise<Figures> {
  const sum = { checked: 0, damaged: 0 }
  let cursor: string | undefined
  for (;;) {
    const step: VerifyStep = demand(await store.verify(VERIFY_STEP, cursor))
    sum.checked += step.checked
    sum.damaged += step.damaged
    if (step.cursor === null) return sum
    cursor = step.cursor
  }
}

async function purge(
  store: Store,
  { tenant, session }: StoreValues,
  config: Config,
): Promise<Figures> {
  if (tenant === undefined) throw new UsageError('purge needs --tenant')
  if (session !== undefined) return removed(await store.purgeSession(tenant, session))
  const purged = demand(await store.purgeTenant(tenant))
  const { bodies, records, generation } = purged
  const { redis } = config.store
  if (redis !== undefined) {
    const stays = redis.durability === 'primary'
    const news = { kind: 'purge', tenant, generation } as const
    demand(await tellReplicas(store, [news], Date.now(), stays))
  }
  return { bodies, records, ...(await purgeTenantFiles(config.data_dir, tenant)) }
}

function removed(result: Result<{ bodies: number; records: number }>): Record<string, number> {
  const { bodies, records } = demand(result)
  return { bodies, records }
}

function demand<T>(result: Result<T>): T & { readonly ok: true } {
  if (result.ok) return result
  throw new Error(failureProblem(result).detail)
}
