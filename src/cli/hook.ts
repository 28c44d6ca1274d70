import type { Readable } from 'node:stream'
import { processEnv } from '../config/env.ts'
import { secretReader } from '../mcp/secret-text.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { defineActions } from './command.ts'
import { answerHook } from './hook/answer-hook.ts'
import { readEvent } from './hook/read-event.ts'
import { agentService, serviceAt } from './service-client.ts'

/** The agent waits for its hooks: the longest wait for a service, in milliseconds. */
const DEADLINE_MS = 2_000

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
      help: 'The service (default HAVERSACK_URL, else the one of the base URL of the agent)',
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
          const url = values.url ?? agentService(env)
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
