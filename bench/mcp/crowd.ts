import { markdownTable } from '../support/markdown-table.ts'
import { summarizeTimes } from '../support/statistics.ts'
import { openHttpPeer } from './http-peer.ts'
import { serveGateway, startUpstream } from './http-ways.ts'
import { nextNonce } from './latency.ts'

const CLIENTS = 64
const UPSTREAMS = 8
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

/** Calls of many clients to many servers through one service; every answer has its call's nonce. */
export async function crowdReport(calls: number): Promise<string> {
  const upstreams = await Promise.all(Array.from({ length: UPSTREAMS }, startUpstream))
  const gateway = await serveGateway(upstreams)
  const peers = await Promise.all(Array.from({ length: CLIENTS }, () => openHttpPeer(gateway.url)))
  const times: number[] = []
  let [started, lost, crossed] = [0, 0, 0]
  const begin = performance.now()
  const use = async (peer: (typeof peers)[number]) => {
    while (started < calls) {
      const turn = started++
      const [nonce, sent] = [nextNonce(), performance.now()]
      const name = `bench${turn % UPSTREAMS}__${TOOLS[turn % TOOLS.length]}`
      const params = JSON.stringify({ name, arguments: { nonce } })
      const answer = await peer.request('tools/call', params).catch(() => null)
      if (answer === null) lost++
      else if (!answer.includes(nonce) || answer.indexOf('nonce') !== answer.lastIndexOf('nonce')) {
        crossed++
      }
      times.push(performance.now() - sent)
    }
  }
  await Promise.all(peers.map(use))
  const seconds = (performance.now() - begin) / 1000
  let reached = 0
  for (let i = 0; i < UPSTREAMS; i++) {
    const counts = await peers[0]!.request('tools/call', `{"name":"bench${i}__counts"}`)
    reached += Number(
      /calls\\*":(\d+)|calls\D+(\d+)/.exec(counts.toString())?.slice(1).find(Boolean),
    )
  }
  await Promise.all(peers.map(peer => peer.close()))
  await gateway.stop()
  await Promise.all(upstreams.map(upstream => upstream.stop()))
  const { p50_ms, p99_ms } = summarizeTimes(times)
  return markdownTable(
    ['clients', 'servers', 'calls', 'lost', 'crossed', 'run twice', 'calls/s', 'p50 ms', 'p99 ms'],
    [[CLIENTS, UPSTREAMS, calls, lost, crossed, reached - calls, calls / seconds, p50_ms, p99_ms]],
  )
}
