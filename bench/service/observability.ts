import { openSync } from 'node:fs'
import { join } from 'node:path'
import { load, startServer } from '../support/processes.ts'
import { median } from '../support/statistics.ts'
import { encodeBodies } from './bodies.ts'

/** Requests a second with metrics and a log line each, against a service with neither, in turn. */
export async function observability(folder: string, rounds: number, seconds: number) {
  const bodies = encodeBodies(folder, 4096, 64)
  const log = openSync(join(folder, 'service.log'), 'w')
  const env = { HAVERSACK_PORT: '0' }
  const on = await startServer('../src/main.ts', env, log)
  const off = await startServer('service/unobserved-server.ts', {
    ...env,
    HAVERSACK_LOG_LEVEL: 'silent',
  })
  const plan = { path: '/v1/encode', method: 'POST', bodies, connections: 32 } as const
  const measure = async (port: number, length: number) => {
    const { errors, per_second } = await load({ ...plan, port, seconds: length })
    if (errors > 0) throw new Error('requests failed')
    return per_second
  }
  for (const { port } of [on, off]) await measure(port, 4)
  const pairs: { on: number; off: number }[] = []
  for (let round = 0; round < rounds; round++) {
    // In turn, and each first every other time.
    const order = round % 2 === 0 ? ['on', 'off'] : ['off', 'on']
    const pair = { on: 0, off: 0 }
    for (const side of order as ('on' | 'off')[]) {
      pair[side] = await measure({ on, off }[side].port, seconds)
    }
    pairs.push(pair)
  }
  await Promise.all([on.stop(), off.stop()])
  return {
    on_per_second: median(pairs.map(pair => pair.on)),
    off_per_second: median(pairs.map(pair => pair.off)),
    ratio: median(pairs.map(pair => pair.on / pair.off)),
    ratios: pairs.map(pair => pair.on / pair.off),
  }
}
