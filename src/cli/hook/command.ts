import type { Readable } from 'node:stream'
import { repositoryName } from '../../config/layers/repository.ts'
import { defineActions } from '../../console/command.ts'
import { serviceAt } from '../../console/service-client.ts'
import { answerHook } from './answer-hook.ts'
import { type AskedService, answerAgent, calledOptions } from './called-by-agent.ts'
import { readEvent } from './read-event.ts'

/** The agent waits for its hooks: the longest wait for a service, in milliseconds. */
const DEADLINE_MS = 2_000

export const hookCommand = defineActions({
  name: 'hook',
  outlivesReader: true,
  details:
    'Claude Code calls it after a tool: haversack setup claude --hook. It reads the event on ' +
    'stdin and prints the smaller output, in the shape of the tool, by a running service. At the ' +
    'start of a session it tells the model how results are to be read, or the user that no ' +
    'service answers. If anything fails, it prints nothing and its exit code is 0.',
  examples: ['hook claude', 'hook claude --url http://127.0.0.1:8787'],
  options: calledOptions,
  actions: { claude: { run: values => answerAgent(values, runHook) } },
})

/** Says to the ledger that this is a hook, of which agent, and in which project. */
function ofHook(): Readonly<Record<string, string>> {
  const project = repositoryName(process.cwd())
  return {
    'user-agent': 'haversack-hook-claude',
    ...(project !== undefined && { 'x-haversack-project': project }),
  }
}

/** Reads an event and answers it, within a time. @throws whatever keeps it from that */
export async function runHook(
  input: Readable,
  { url, key, deadlineMs = DEADLINE_MS }: AskedService,
): Promise<string | null> {
  const signal = AbortSignal.timeout(deadlineMs)
  const values = key === undefined ? {} : { key }
  return answerHook(
    await readEvent(input, signal),
    serviceAt(url, values, { signal, mustProve: true, headers: ofHook() }),
  )
}
