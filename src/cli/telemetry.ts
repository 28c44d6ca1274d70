import { createEndpointSavings } from '../core/telemetry/endpoint-savings.ts'
import { BASELINE } from '../core/telemetry/event.ts'
import { tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { readTelemetryKey } from '../telemetry/key-file.ts'
import { telemetryFolder } from '../telemetry/layout.ts'
import { noTally } from '../telemetry/read-lines.ts'
import { readEvents } from '../telemetry/read-telemetry.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from './command.ts'
import { dataOption, loadDataConfig } from './data-folder.ts'
import { jsonOption } from './options.ts'
import { reportSavings, savingsRecord } from './telemetry/report.ts'
import { sinceMs } from './telemetry/since.ts'

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
