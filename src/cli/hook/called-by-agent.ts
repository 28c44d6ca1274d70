import type { Readable } from 'node:stream'
import { processEnv } from '../../config/env.ts'
import type { Options, ValuesOf } from '../../console/command.ts'
import { agentService, agentServiceOption } from '../../console/service-client.ts'
import { GrownBytes } from '../../core/base/grown-bytes.ts'
import { secretReader } from '../../mcp/auth/secret-text.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

/** The service that a command asks, and for how long. */
export interface AskedService {
  readonly url: string
  readonly key: string | undefined
  /** How long the agent may wait, in milliseconds. */
  readonly deadlineMs?: number
}

/** The options of commands that an agent calls. */
export const calledOptions = {
  url: agentServiceOption,
  'key-file': {
    type: 'string',
    value: 'FILE',
    help: 'Holds the key for the service (default HAVERSACK_KEY)',
  },
} as const satisfies Options

/** Prints what `answer` makes of standard input. On any failure nothing is printed, and it is 0. */
export async function answerAgent(
  values: ValuesOf<typeof calledOptions>,
  answer: (input: Readable, service: AskedService) => Promise<string | null>,
): Promise<number> {
  try {
    const env = processEnv()
    const file = values['key-file']
    const key = file === undefined ? env['HAVERSACK_KEY'] : secretReader(`file:${file}`, {})()
    const url = values.url ?? agentService(env)
    if (url === undefined) return EXIT.ok
    const printed = await answer(process.stdin, { url, key: key || undefined })
    if (printed !== null) process.stdout.write(`${printed}\n`)
  } catch {
    // The agent keeps what it has.
  } finally {
    process.stdin.destroy()
  }
  return EXIT.ok
}

/** Longest event that is read. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024

/**
 * What an agent writes to a command that it calls, until `signal` ends the wait.
 * @throws Error if it comes too late, is too long or is not UTF-8
 */
export async function readEvent(input: Readable, signal: AbortSignal): Promise<string> {
  const stop = () => input.destroy(new Error('the event did not come in time'))
  signal.addEventListener('abort', stop)
  try {
    const event = new GrownBytes(MAX_EVENT_BYTES)
    for await (const chunk of input as AsyncIterable<Buffer>) {
      if (!event.add(chunk)) throw new Error('the event is too long')
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(event.bytes)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
