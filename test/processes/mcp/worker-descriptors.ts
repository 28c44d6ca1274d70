import { closeSync, openSync } from 'node:fs'
import { connectTo, httpTarget, knownEra, rawTarget, toolCall } from '../../support/mcp/connect.ts'

/**
 * Calls a server over stdio and one over HTTP while this process has no file descriptor left, and
 * again when it has. Prints how the calls ended, as JSON.
 * @param url the server over HTTP, as argument; `ulimit -n` should be low
 */
const [, , url = ''] = process.argv

const held: number[] = []
const options = { limits: { firstWaitMs: 0, downWaitMs: 0 } }

function takeAll(): void {
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EMFILE') throw error
  }
}

/** Loads what a call needs, so that no module has to be opened later. */
async function warmUp(): Promise<void> {
  const { connection } = connectTo(rawTarget('legacy'), { verdicts: knownEra('legacy') })
  await connection.call(toolCall('torn'))
  await connection.close()
}

await warmUp()
takeAll()
const stdio = connectTo(rawTarget('legacy'), { verdicts: knownEra('legacy'), ...options })
const http = connectTo(httpTarget(url), { verdicts: knownEra('legacy'), ...options })
const ends = async () =>
  (await Promise.all([stdio, http].map(({ connection }) => connection.call(toolCall('torn'))))).map(
    ({ kind }) => kind,
  )
const without = await ends()
for (const descriptor of held) closeSync(descriptor)
let later = await ends()
for (let i = 0; i < 100 && later.some(kind => kind !== 'answered'); i++) {
  await new Promise(resolve => setTimeout(resolve, 100))
  later = await ends()
}
await Promise.all([stdio, http].map(({ connection }) => connection.close()))
process.stdout.write(JSON.stringify({ without, later }))
