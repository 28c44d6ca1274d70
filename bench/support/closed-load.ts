import { type ClosedLoop, type RequestPlan, requestsOf, runClosedLoop } from './load-client.ts'

/**
 * A closed-loop load on loopback, in a process of its own: `node closed-load.ts '{"port":…}'` prints
 * one JSON line.
 */
export interface LoadPlan
  extends RequestPlan,
    Pick<ClosedLoop, 'connections' | 'seconds' | 'pauseMs'> {}

const plan: LoadPlan = JSON.parse(process.argv[2] ?? '{}')
const requests = requestsOf(plan)
let next = 0
const result = await runClosedLoop({
  ...plan,
  request: () => requests[next++ % requests.length] as Buffer,
})
process.stdout.write(`${JSON.stringify(result)}\n`)
