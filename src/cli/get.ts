import { processEnv } from '../config/env.ts'
import { EXIT } from '../exit-codes.ts'
import { type Command, text, UsageError, type Values } from './command.ts'
import { jsonOption } from './options.ts'

/** Query parameters that options of the same name fill. */
const PARAMETERS = ['session', 'lines', 'bytes', 'path', 'grep', 'context'] as const

/** What the service's statuses mean for whoever asks for an original. */
const OUTCOMES: Readonly<Record<number, string>> = {
  404: 'not_found',
  409: 'ambiguous',
  410: 'expired',
}

export const getCommand: Command = {
  name: 'get',
  summary: 'Fetch back a kept original from a running service; the text goes to stdout',
  operands: 'HASH',
  maxOperands: 1,
  options: {
    url: {
      type: 'string',
      value: 'URL',
      help: 'The service (default HAVERSACK_URL, else http://127.0.0.1:8787)',
    },
    key: { type: 'string', value: 'KEY', help: 'Key for it (default HAVERSACK_KEY)' },
    session: { type: 'string', value: 'ID', help: 'Session that a reference of 8 digits is of' },
    lines: { type: 'string', value: 'RANGE', help: 'Only these lines: 40-80, 40- or -20' },
    bytes: { type: 'string', value: 'RANGE', help: 'Only these bytes: 0-99, 100- or -100' },
    path: { type: 'string', value: 'PATH', help: 'Only what this JSON path meets: $.items[3:9]' },
    grep: { type: 'string', value: 'TEXT', help: 'Only lines that have this text' },
    context: { type: 'string', value: 'N', help: 'Lines around each of them' },
    ...jsonOption,
  },
  async run(values, [hash]) {
    if (hash === undefined) throw new UsageError('get takes a hash')
    const response = await ask(hash, values)
    const answer = (await response.json()) as Record<string, unknown>
    if (response.ok) {
      const asJson = values['json'] === true
      process.stdout.write(
        asJson
          ? `${JSON.stringify({ outcome: 'ok', ...answer })}\n`
          : String(answer['original_content']),
      )
      return EXIT.ok
    }
    const outcome = OUTCOMES[response.status] ?? String(answer['code'])
    if (values['json'] === true) {
      process.stdout.write(`${JSON.stringify({ outcome, detail: answer['detail'] })}\n`)
    } else process.stderr.write(`haversack: ${outcome}: ${answer['detail']}\n`)
    return response.status === 400 ? EXIT.usage : EXIT.failed
  },
}

async function ask(hash: string, values: Values): Promise<Response> {
  const env = processEnv()
  const base = text(values, 'url') ?? (env['HAVERSACK_URL'] || 'http://127.0.0.1:8787')
  const key = text(values, 'key') ?? env['HAVERSACK_KEY']
  const url = addressOf(base, hash)
  for (const name of PARAMETERS) {
    const value = text(values, name)
    if (value !== undefined) url.searchParams.set(name, value)
  }
  try {
    return await fetch(url, key === undefined ? {} : { headers: { 'x-api-key': key } })
  } catch {
    throw new Error(`no service answers at ${base}`)
  }
}

function addressOf(base: string, hash: string): URL {
  try {
    return new URL(`${base.replace(/\/+$/, '')}/v1/retrieve/${encodeURIComponent(hash)}`)
  } catch {
    throw new UsageError(`${base} is not a URL`)
  }
}
