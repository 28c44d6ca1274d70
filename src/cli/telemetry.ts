import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { createEndpointSavings } from '../core/telemetry/endpoint-savings.ts'
import { BASELINE } from '../core/telemetry/event.ts'
import { tenantFolder } from '../core/telemetry/pseudonyms.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { readTelemetryKey } from '../telemetry/key-file.ts'
import { telemetryFolder } from '../telemetry/layout.ts'
import { noTally } from '../telemetry/read-lines.ts'
import { readEvents } from '../telemetry/read-telemetry.ts'
import { type Command, text, UsageError, type Values } from './command.ts'
import { jsonOption } from './options.ts'
import { reportSavings, savingsRecord } from './telemetry/report.ts'
import { sinceMs } from './telemetry/since.ts'

export const telemetryCommand: Command = {
  name: 'telemetry',
  summary: 'What was saved on which endpoints, from the telemetry of this data folder',
  operands: 'show',
  maxOperands: 1,
  options: {
    data: { type: 'string', value: 'FOLDER', help: 'Data folder (default HAVERSACK_DATA_DIR)' },
    tenant: { type: 'string', value: 'NAME', help: 'Whose (default: all together)' },
    since: {
      type: 'string',
      value: 'TIME',
      help: 'Nothing older: days or hours back, such as 7d or 12h, or an ISO date',
    },
    ...jsonOption,
  },
  async run(values, [action]) {
    if (action !== 'show') throw new UsageError('telemetry takes show')
    const since = text(values, 'since')
    const from = since === undefined ? 0 : sinceMs(since, Date.now())
    if (from === null) throw new UsageError('--since takes 7d, 12h or an ISO date')
    const folder = text(values, 'data')
    const overrides = folder === undefined ? {} : { data_dir: folder }
    const config = loadConfig({ env: processEnv(), overrides, insecure: true })
    const tenant = tenantOf(values, config.data_dir)
    const savings = createEndpointSavings()
    const tally = noTally()
    const options = { tenant, sinceMs: from }
    for await (const batch of readEvents(telemetryFolder(config.data_dir), options, tally)) {
      for (const event of batch) savings.add(event)
    }
    const groups = savings.groups()
    const answer =
      values['json'] === true
        ? JSON.stringify({ baseline: BASELINE, tokenizers: groups.map(savingsRecord), read: tally })
        : reportSavings(groups, tally)
    process.stdout.write(`${answer}\n`)
    return EXIT.ok
  },
}

/** The folder of the tenant that was named. */
function tenantOf(values: Values, dataDir: string): string | undefined {
  const tenant = text(values, 'tenant')
  if (tenant === undefined) return undefined
  const key = readTelemetryKey(dataDir)
  if (key === null)
    throw new UsageError(`${dataDir} has no telemetry ([telemetry] enabled = true records it)`)
  return tenantFolder(key, tenant)
}
