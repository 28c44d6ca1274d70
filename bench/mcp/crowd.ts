import { summarizeTimes } from '../support/statistics.ts'
import { openHttpPeer } from './http-peer.ts'
import { serveGateway, startUpstream } from './http-ways.ts'
import { nextNonce } from './latency.ts'
import { openModernPeer } from './modern-peer.ts'
import type { Peer } from './peer.ts'
import { Tickets } from './tickets.ts'

/** Of each ten calls, most are small. */
const TOOLS = [
  'tiny',
  'tiny',
  'image_4k',
  'tiny',
  'rows_4k',
  'tiny',
  'tiny',
  'image_4k',
  'tiny',
  'tiny',
]

export interface CrowdOptions {
  readonly calls: number
  readonly clients: number
  readonly servers: number
}

/**
 * Calls of many clients to many servers through one service; every other client, and every other
 * pair of servers, is of 2026-07-28.
 */
export async function runCrowd({ calls, clients, servers }: CrowdOptions) {
  const upstreams = await Promise.all(
    Array.from({ length: servers }, (_, i) =>
      startUpstream({ BENCH_SERVER: String(i), ...(i % 4 < 2 ? {} : { BENCH_ERA: 'modern' }) }),
    ),
  )
  const gateway = await serveGateway(upstreams)
  const peers = await Promise.all(
    Array.from({ length: clients }, (_, i) =>
      i % 2 === 0 ? openHttpPeer(gateway.url) : openModernPeer(gateway.url, `client ${i % 4}`),
    ),
  )
  const times: number[] = []
  const tickets = new Tickets()
  let started = 0
  const begin = performance.now()
  const use = async (peer: Peer) => {
    while (started < calls) {
      const turn = started++
      const [nonce, sent] = [nextNonce(), performance.now()]
      const server = turn % servers
      const name = `bench${server}__${TOOLS[turn % TOOLS.length]}`
      const params = JSON.stringify({ name, arguments: { nonce, ticket: true } })
      const answer = await peer.request('tools/call', params).catch(() => null)
      if (answer === null) tickets.lost()
      else tickets.take(answer.toString(), nonce, server)
      times.push(performance.now() - sent)
    }
  }
  await Promise.all(peers.map(use))
  const seconds = (performance.now() - begin) / 1000
  await Promise.all(peers.map(peer => peer.close()))
  await gateway.stop()
  await Promise.all(upstreams.map(upstream => upstream.stop()))
  const { p50_ms, p99_ms } = summarizeTimes(times)
  return { ...tickets.counts(), calls_per_s: calls / seconds, p50_ms, p99_ms }
}
