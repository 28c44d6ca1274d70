import type { Readable } from 'node:stream'
import { processEnv } from '../config/env.ts'
import { secretReader } from '../mcp/secret-text.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { defineActions } from './command.ts'
import { answerHook } from './hook/answer-hook.ts'
import { DEFAULT_SERVICE_URL, serviceAt } from './service-client.ts'

/** The agent waits for its hooks: the longest wait for a service, in milliseconds. */
const DEADLINE_MS = 2_000
/** Longest event that is read. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024

export interface HookOptions {
  readonly url: string
  readonly key: string | undefined
  readonly deadlineMs?: number
}

export const hookCommand = defineActions({
  name: 'hook',
  summary: 'Make the results of tools smaller as a hook of an agent, without a base URL',
  details:
    'Claude Code calls it after a tool: haversack setup claude --hook. It reads the event on ' +
    'stdin and prints the smaller output, in the shape of the tool, by a running service. If ' +
    'anything fails, it prints nothing and its exit code is 0.',
  examples: ['hook claude', 'hook claude --url http://127.0.0.1:8787'],
  options: {
    url: {
      type: 'string',
      value: 'URL',
      help: `The service (default HAVERSACK_URL, else ${DEFAULT_SERVICE_URL})`,
    },
    'key-file': {
      type: 'string',
      value: 'FILE',
      help: 'Holds the key for the service (default HAVERSACK_KEY)',
    },
  },
  actions: {
    claude: {
      async run(values) {
        try {
          const env = processEnv()
          const file = values['key-file']
          const url = values.url ?? (env['HAVERSACK_URL'] || DEFAULT_SERVICE_URL)
          const key = file === undefined ? env['HAVERSACK_KEY'] : secretReader(`file:${file}`, {})()
          const answer = await runHook(process.stdin, { url, key: key || undefined })
          if (answer !== null) process.stdout.write(`${answer}\n`)
        } catch {
          // The agent keeps the output that it has.
        } finally {
          process.stdin.destroy()
        }
        return EXIT.ok
      },
    },
  },
})

/** Reads an event and answers it, within a time. @throws whatever keeps it from that */
export async function runHook(
  input: Readable,
  { url, key, deadlineMs = DEADLINE_MS }: HookOptions,
): Promise<string | null> {
  const signal = AbortSignal.timeout(deadlineMs)
  const values = key === undefined ? {} : { key }
  return answerHook(await readEvent(input, signal), serviceAt(url, values, signal))
}

async function readEvent(input: Readable, signal: AbortSignal): Promise<string> {
  const stop = () => input.destroy(new Error('the event did not come in time'))
  signal.addEventListener('abort', stop)
  try {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of input as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_EVENT_BYTES) throw new Error('the event is too long')
      chunks.push(chunk)
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
