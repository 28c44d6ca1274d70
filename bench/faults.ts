import { FAILOVERS, FAULTS } from './faults/fault-table.ts'
import { playFaults } from './faults/play.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- faults [--sentinels --operations N --seed N --each N --pairs
 *   --stays PERCENT --call MS --only FAULT,…]
 *
 * Three replicas of the service on one Redis, or on a primary with two replicas and three
 * Sentinels; agents of two tenants, one of a tenant that is purged now and then, and a client that
 * asks for more than its rate; and a fault after every so many operations, or two at a time.
 * Results of a session come to any replica, or so often to the same one. A judge that shares no
 * code with the service checks each answer by the agent's own log. Needs `redis-server` on the
 * path. Ends with 1 if anything was wrong.
 */
const names = [...new Set([...Object.keys(FAULTS), ...Object.keys(FAILOVERS)])]
const options = readOptions({
  sentinels: false,
  pairs: false,
  stays: 0,
  operations: 5_000,
  seed: 1,
  each: 150,
  agents: 3,
  call: 100,
  only: names,
})

process.stdout.write(`${JSON.stringify(machine())}\n`)
const { sentinels: hasSentinels, pairs, only, call: callMs, ...rest } = options
const table = hasSentinels ? FAILOVERS : FAULTS
const faults = only.filter(name => Object.hasOwn(table, name))
const run = await playFaults({ ...rest, hasSentinels, callMs, faults, atOnce: pairs ? 2 : 1 })
const { violations, disturbances: _, ...figures } = run
const inShort = { ...figures, violations: violations.length }
process.stdout.write(`${JSON.stringify(inShort, null, 2)}\n`)
process.exitCode = violations.length === 0 ? 0 : 1
