import { UsageError } from '../../console/command.ts'
import { ServiceProblem, serviceAt } from '../../console/service-client.ts'
import { noteCompaction } from '../../mcp/client/contexts/compactions.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { loadMcpConfig } from './load-config.ts'
import type { McpValues } from './options.ts'
import { serviceKey } from './service-key.ts'

/**
 * For a hook of an agent: its context, or without a name every context of this data folder, has
 * lost what it was sent.
 */
export async function noteCompacted(
  values: McpValues,
  [context]: readonly string[],
): Promise<number> {
  if (values.service === undefined) {
    noteCompaction(loadMcpConfig(values).config.data_dir, context ?? null, Date.now())
    return EXIT.ok
  }
  if (context === undefined) throw new UsageError('with --service a context must be named')
  try {
    await serviceAt(values.service, keyOf(values)).post(
      `/v1/sessions/${encodeURIComponent(context)}/compaction`,
      {},
    )
  } catch (error) {
    // Nothing was sent to a context that the service does not know.
    if (!(error instanceof ServiceProblem && error.status === 404)) throw error
  }
  return EXIT.ok
}

function keyOf(values: McpValues): { key?: string } {
  const key = serviceKey(values)()
  return key === undefined ? {} : { key }
}
