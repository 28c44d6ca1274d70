import { createInterface } from 'node:readline'
import { createFingerprintThread } from '../../../src/fingerprints/task-thread.ts'
import { Teams } from '../../../src/fingerprints/teams.ts'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'
import type { Command, Said } from './team-commands.ts'

/**
 * A process with teams in a store, to be killed: takes commands, a line each, and says when each
 * has ended.
 */
const [folder = ''] = process.argv.slice(2)
const store = await openSqliteStore({ folder, onEvent: () => {} })
const thread = createFingerprintThread({
  onBug: bug => process.stderr.write(`${bug}\n`),
  onLost: reason => process.stderr.write(`${reason}\n`),
})
/** Moved on by commands, so that uploads expire. */
let ahead = 0
const teams = new Teams({ store, thread, now: () => Date.now() + ahead })

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`)
}

async function run({ id, tenant, team, act, ...command }: Command): Promise<Said> {
  if (act === 'upload') {
    const body = Buffer.from(JSON.stringify(command.upload))
    const { accepted } = await teams.upload(tenant, team, { body, media: 'json' }, null)
    return { id, accepted }
  }
  if (act === 'withdraw') {
    await teams.withdraw(tenant, team, command.member ?? '')
    return { id }
  }
  const { json } = await teams.document(tenant, team)
  return { id, document: JSON.parse(Buffer.from(json).toString()) }
}

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line) as Command
  ahead = command.ahead
  run(command).then(say, error => say({ id: command.id, code: error.code ?? String(error) }))
}
await thread.close()
await store.close()
