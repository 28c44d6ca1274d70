import { readFileSync } from 'node:fs'
import { type ClosedLoop, runClosedLoop } from './closed-loop.ts'

/**
 * A closed-loop load, in a process of its own: `node closed-load.ts '{"url":…}'` prints one JSON
 * line.
 */
export interface LoadPlan extends Pick<ClosedLoop, 'connections' | 'seconds' | 'pauseMs'> {
  readonly url: string
  /** A file of request bodies, a JSON text a line. */
  readonly bodies: string
  /** The key that requests are sent with. */
  readonly key?: string
}

const { url, bodies, key, ...loop }: LoadPlan = JSON.parse(process.argv[2] ?? '{}')
const lines = readFileSync(bodies, 'utf8').split('\n').filter(Boolean)
const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
let next = 0
const request: ClosedLoop['request'] = () => [url, lines[next++ % lines.length]!, headers]
process.stdout.write(`${JSON.stringify(await runClosedLoop({ ...loop, request }))}\n`)
