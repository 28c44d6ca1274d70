import { markdownTable } from '../support/markdown-table.ts'
import { summarizeTimes } from '../support/statistics.ts'
import { WAYS, type Ways } from './ways.ts'

/** `tools/list` the ways in turn, and how many of the gateway's lists its server was asked for. */
export async function listsReport({ peers }: Ways, rounds: number): Promise<string> {
  const listsAsked = async () => {
    const answer = await peers.gateway.request('tools/call', '{"name":"counts","arguments":{}}')
    return Number(/lists\D+(\d+)/.exec(answer.toString())?.[1])
  }
  const times = { direct: [] as number[], relay: [] as number[], gateway: [] as number[] }
  const measure = async (way: (typeof WAYS)[number]) => {
    const started = performance.now()
    await peers[way].request('tools/list', '{}')
    times[way].push(performance.now() - started)
  }
  await measure('gateway')
  const before = await listsAsked()
  for (let round = 0; round < rounds; round++) await measure('gateway')
  const asked = (await listsAsked()) - before
  for (let round = 0; round < rounds; round++) for (const way of WAYS) await measure(way)
  const rows = WAYS.map(way => {
    const { p50_ms, p99_ms } = summarizeTimes(times[way])
    return [way, p50_ms.toFixed(2), p99_ms.toFixed(2), way === 'gateway' ? asked : '–']
  })
  return markdownTable(['tools/list', 'p50 ms', 'p99 ms', 'asked of the server'], rows)
}
