import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { summarizeTimes, type Times } from '../support/statistics.ts'
import { nextNonce } from './latency.ts'
import type { Peer } from './peer.ts'
import { startGateway } from './stdio-ways.ts'
import { script } from './ways.ts'

export interface KillOptions {
  readonly kills: number
  /** Killed in turn, so that each runs for a while before it is killed again. */
  readonly servers: number
  /** Least time between two kills of one server, in milliseconds. */
  readonly restMs: number
}

export interface KillResult {
  /** From SIGKILL to the answer of the call that was under way. */
  readonly answer: Times
  /** From SIGKILL to the result of the first call after that which had one. */
  readonly next: Times
  /** Calls that were answered with an error before that one. */
  readonly refused: number
  /** Calls under way whose answer did not say that they may have happened. */
  readonly unexplained: number
}

/** `haversack mcp`, whose servers are killed in the middle of a call. */
export async function runKills({ kills, servers, restMs }: KillOptions): Promise<KillResult> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-kills-'))
  const peer = await startGateway(folder, [script('upstream-server.ts')], servers)
  const killed: number[] = Array.from({ length: servers }, () => performance.now())
  const [answers, next]: [number[], number[]] = [[], []]
  let [refused, unexplained] = [0, 0]
  for (let turn = 0; turn < kills; turn++) {
    const server = turn % servers
    await sleep(Math.max(0, (killed[server] as number) + restMs - performance.now()))
    const pid = await pidOf(peer, server)
    const hanging = peer.request('tools/call', call(server, 'hang'))
    // Its server has the call that hangs once it has answered a later one.
    await peer.request('tools/call', call(server, 'tiny'))
    const at = performance.now()
    process.kill(pid, 'SIGKILL')
    const end = await hanging
    answers.push(performance.now() - at)
    if (!/isError":true/.test(end.toString()) || !/may have happened/.test(end.toString())) {
      unexplained++
    }
    while ((await peer.request('tools/call', call(server, 'tiny'))).includes('"isError":true')) {
      refused++
    }
    next.push(performance.now() - at)
    killed[server] = performance.now()
  }
  await peer.close()
  rmSync(folder, { recursive: true, force: true })
  return { answer: summarizeTimes(answers), next: summarizeTimes(next), refused, unexplained }
}

function call(server: number, tool: string): string {
  return `{"name":"bench${server}__${tool}","arguments":{"nonce":"${nextNonce()}"}}`
}

async function pidOf(peer: Peer, server: number): Promise<number> {
  const counts = await peer.request('tools/call', call(server, 'counts'))
  const pid = Number(/pid\D+(\d+)/.exec(counts.toString())?.[1])
  // An error has none, and 0 would be this group of processes.
  if (!(pid > 1)) throw new Error(`no pid in ${counts}`)
  return pid
}
