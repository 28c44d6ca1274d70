import { BASELINE } from '../core/telemetry/event.ts'
import { tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { createEndpointSavings } from '../core/telemetry/savings.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { readTelemetryKey } from '../telemetry/key-file.ts'
import { telemetryFolder } from '../telemetry/layout.ts'
import { noTally } from '../telemetry/read-lines.ts'
import { readEvents } from '../telemetry/read-telemetry.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from './command.ts'
import { dataOption, loadDataConfig } from './data-folder.ts'
import { jsonOption } from './options.ts'
import { reportSavings, savingsRecord } from './telemetry/report.ts'

const options = {
  ...dataOption,
  tenant: { type: 'string', value: 'NAME', help: 'Whose (default: all together)' },
  since: {
    type: 'string',
    value: 'TIME',
    help: 'Nothing older: days or hours back, such as 7d or 12h, or an ISO date',
    read: (given, refuse) => sinceMs(given, Date.now()) ?? refuse('7d, 12h or an ISO date'),
  },
  ...jsonOption,
} as const satisfies Options

export const telemetryCommand = defineActions({
  name: 'telemetry',
  summary: 'What was saved on which endpoints, from the telemetry of this data folder',
  options,
  actions: { show: { run: showSavings } },
})

async function showSavings(values: ValuesOf<typeof options>): Promise<number> {
  const config = loadDataConfig(values)
  const tenant = values.tenant === undefined ? undefined : folderOf(values.tenant, config.data_dir)
  const savings = createEndpointSavings()
  const tally = noTally()
  const options = { tenant, sinceMs: values.since ?? 0 }
  for await (const batch of readEvents(telemetryFolder(config.data_dir), options, tally)) {
    for (const event of batch) savings.add(event)
  }
  const groups = savings.groups()
  const answer = values.json
    ? JSON.stringify({ baseline: BASELINE, tokenizers: groups.map(savingsRecord), read: tally })
    : reportSavings(groups, tally)
  process.stdout.write(`${answer}\n`)
  return EXIT.ok
}

/** The folder of a tenant. */
function folderOf(tenant: string, dataDir: string): string {
  const key = readTelemetryKey(dataDir)
  if (key === null)
    throw new UsageError(`${dataDir} has no telemetry ([telemetry] enabled = true records it)`)
  return tenantFolder(key, tenant)
}

const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000 }

/**
 * Unix milliseconds of `7d` or `12h` before `nowMs`, or of an ISO date; `null` for anything else.
 */
export function sinceMs(text: string, nowMs: number): number | null {
  const [, count, unit] = /^(\d{1,6})([dh])$/.exec(text) ?? []
  if (count !== undefined && unit !== undefined) return nowMs - Number(count) * UNITS[unit]!
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : at
}
