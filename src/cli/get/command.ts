import { defineCommand, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { jsonOption } from '../../console/options.ts'
import {
  namedService,
  ServiceProblem,
  serviceAt,
  serviceOptions,
} from '../../console/service-client.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

/** Where a service listens by default. */
const DEFAULT_URL = 'http://127.0.0.1:8787'

/** Query parameters that options of the same name fill. */
const PARAMETERS = ['session', 'lines', 'bytes', 'path', 'grep', 'context'] as const

/** Messages for the service's statuses when an original is requested. */
const OUTCOMES: Readonly<Record<number, string>> = {
  404: 'not_found',
  409: 'ambiguous',
  410: 'expired',
}

export const getOptions = {
  ...serviceOptions,
  url: {
    ...serviceOptions.url,
    help: `The service (default HAVERSACK_URL, else ${DEFAULT_URL})`,
  },
  session: { type: 'string', value: 'ID', help: 'Session of a reference with 8 digits' },
  lines: { type: 'string', value: 'RANGE', help: 'Only these lines: 40-80, 40- or -20' },
  bytes: { type: 'string', value: 'RANGE', help: 'Only these bytes: 0-99, 100- or -100' },
  path: {
    type: 'string',
    value: 'PATH',
    help: 'Only the values at this JSON path; with --lines, of a text',
  },
  grep: { type: 'string', value: 'TEXT', help: 'Only lines with this text' },
  context: { type: 'string', value: 'N', help: 'Lines around each of them' },
  ...jsonOption,
} as const satisfies Options

export const getCommand = defineCommand({
  name: 'get',
  examples: ['get 9f2c41aa0b7d4c11'],
  operands: 'HASH',
  maxOperands: 1,
  options: getOptions,
  async run(values, [hash]) {
    if (hash === undefined) throw new UsageError('get takes a hash')
    const asJson = values.json
    try {
      const answer = await fetchOriginal(hash, values)
      process.stdout.write(
        asJson ? `${JSON.stringify({ outcome: 'ok', ...answer })}\n` : answer.original_content,
      )
      return EXIT.ok
    } catch (error) {
      if (!(error instanceof ServiceProblem)) {
        const { message } = error as Error
        throw new Error(`the original ${hash} is with a running service, but ${message}`, {
          cause: error,
        })
      }
      const { status, code, detail } = error
      const outcome = OUTCOMES[status] ?? code
      if (asJson) process.stdout.write(`${JSON.stringify({ outcome, detail })}\n`)
      else process.stderr.write(`haversack: ${outcome}: ${detail}\n`)
      return status === 400 ? EXIT.usage : EXIT.failed
    }
  },
})

function fetchOriginal(
  hash: string,
  values: ValuesOf<typeof getOptions>,
): Promise<{ original_content: string }> {
  const service = namedService(values) ?? serviceAt(DEFAULT_URL, values)
  const query: Record<string, string> = {}
  for (const name of PARAMETERS) {
    const value = values[name]
    if (value !== undefined) query[name] = value
  }
  return service.get(`/v1/retrieve/${encodeURIComponent(hash)}`, query)
}
