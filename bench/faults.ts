import { FAULTS } from './faults/fault-table.ts'
import { playFaults } from './faults/play.ts'
import { machine } from './support/machine.ts'
import { readOptions } from './support/options.ts'

/**
 * npm run bench -- faults [--operations N --seed N --each N --only FAULT,…]
 *
 * Three replicas of the service on one Redis, agents of two tenants, and a fault after every so
 * many operations. A judge that shares no code with the service checks each answer by the agent's own
 * log. Needs `redis-server` on the path. Ends with 1 if anything was wrong.
 */
const names = Object.keys(FAULTS)
const options = readOptions({ operations: 5_000, seed: 1, each: 150, agents: 3, only: names })

process.stdout.write(`${JSON.stringify(machine())}\n`)
const { operations, seed, each, agents, only } = options
const run = await playFaults({ operations, seed, each, agents, faults: only })
process.stdout.write(`${JSON.stringify({ ...run, violations: run.violations.length }, null, 2)}\n`)
process.exitCode = run.violations.length === 0 ? 0 : 1
