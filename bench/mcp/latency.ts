import { readFileSync } from 'node:fs'
import { percentile } from '../support/statistics.ts'
import { callTool } from './peer.ts'
import type { ToolName } from './results.ts'
import { WAYS, type Way, type Ways } from './ways.ts'

export interface Latency {
  readonly ms: Readonly<Record<Way, readonly number[]>>
  /** Milliseconds of processor time a call, of the process that the way adds. */
  readonly cpuMs: Readonly<Record<Way, number>>
}

/** Clock ticks of Linux are a hundredth of a second. */
const TICK_MS = 10

/** Processor time of a process with all its threads, in milliseconds. */
function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

let nonces = 0
/** Twelve letters and digits, so that it may stand in base64. */
export const nextNonce = () => `nonce${String(++nonces).padStart(7, '0')}`

/** Calls one after another, the ways in turn. */
export async function measureLatency(
  { peers }: Ways,
  tool: ToolName,
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
): Promise<Latency> {
  const ms: Record<Way, number[]> = { direct: [], relay: [], gateway: [] }
  const cpu = (way: Way) =>
    Object.values(peers[way].pids).reduce((sum, pid) => sum + processorMs(pid), 0)
  let before: Record<Way, number> | undefined
  for (let round = -warmUp; round < rounds; round++) {
    if (round === 0)
      before = { direct: cpu('direct'), relay: cpu('relay'), gateway: cpu('gateway') }
    for (let turn = 0; turn < WAYS.length; turn++) {
      const way = WAYS[(turn + round + warmUp) % WAYS.length] as Way
      const started = performance.now()
      await callTool(peers[way], tool, nextNonce())
      if (round >= 0) ms[way].push(performance.now() - started)
    }
  }
  const cpuOf = (way: Way) => (cpu(way) - (before?.[way] ?? 0)) / rounds
  return {
    ms,
    cpuMs: { direct: cpuOf('direct'), relay: cpuOf('relay'), gateway: cpuOf('gateway') },
  }
}

/** Calls a second with many under way at once, the ways in turn, the median of rounds. */
export async function measureThroughput(
  { peers }: Ways,
  tool: ToolName,
  {
    calls,
    inFlight,
    rounds,
  }: { readonly calls: number; readonly inFlight: number; readonly rounds: number },
): Promise<Record<Way, number>> {
  const rates: Record<Way, number[]> = { direct: [], relay: [], gateway: [] }
  for (let round = 0; round < rounds; round++) {
    for (const way of WAYS) {
      const started = performance.now()
      let left = calls
      const caller = async () => {
        while (left-- > 0) await callTool(peers[way], tool, nextNonce())
      }
      await Promise.all(Array.from({ length: inFlight }, caller))
      rates[way].push((calls * 1000) / (performance.now() - started))
    }
  }
  const middle = (way: Way) => percentile(rates[way], 0.5)
  return { direct: middle('direct'), relay: middle('relay'), gateway: middle('gateway') }
}
