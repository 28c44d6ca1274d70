import { createRandom } from '../../src/bill/statistics.ts'
import { simulate } from './simulate.ts'

/** What an encode with a session costs, and what it leaves in Redis; see docs/guide/replicas.md. */
export interface Costs {
  /** If the result before it in its session was encoded by the same pod, and by another one. */
  readonly staying: EncodeCosts
  readonly moving: EncodeCosts
  /** Bytes in Redis for each byte of a new text, of a result in a session, and of a session. */
  readonly storedShare: number
  readonly resultBytes: number
  readonly sessionBytes: number
}

export interface EncodeCosts {
  /** Processor time of the whole service, of its main thread, and of Redis, in microseconds. */
  readonly serviceUs: number
  readonly mainUs: number
  readonly redisUs: number
  /** Calls of Redis. */
  readonly calls: number
}

/** By `npm run bench -- store --only encodes`: 4 KiB, 32 at a time. */
export const MEASURED: Costs = {
  staying: { serviceUs: 1_789, mainUs: 409, redisUs: 126, calls: 1.05 },
  moving: { serviceUs: 2_250, mainUs: 573, redisUs: 190, calls: 2.05 },
  storedShare: 0.52,
  resultBytes: 175,
  sessionBytes: 540,
}

/** The costs of an encode on average, if this share of them is of sessions that move. */
export function costsOfEncode({ staying, moving }: Costs, movingShare: number): EncodeCosts {
  const between = (of: (costs: EncodeCosts) => number) =>
    movingShare * of(moving) + (1 - movingShare) * of(staying)
  return {
    serviceUs: between(({ serviceUs }) => serviceUs),
    mainUs: between(({ mainUs }) => mainUs),
    redisUs: between(({ redisUs }) => redisUs),
    calls: between(({ calls }) => calls),
  }
}

export interface Load {
  /** Agents that work at the same time. */
  readonly agents: number
  readonly turnsPerHour: number
  readonly resultsPerTurn: number
  readonly resultBytes: number
  /** The share of results whose session comes from another pod: 1 if pods take turns. */
  readonly movingShare: number
  /** The share of results whose text is new. */
  readonly newShare: number
  /** How long an original and a session live, in hours. */
  readonly originalHours: number
  readonly sessionHours: number
  /** How long one agent works in one session, in hours. */
  readonly workHours: number
  /** The share of all agents that the largest tenant has. */
  readonly largestTenant: number
  readonly coresPerPod: number
  /** Gibibytes of memory that one Redis node may fill. */
  readonly nodeGib: number
  /** Tokens that a result saves, and what a million of them cost. */
  readonly savedTokens: number
  readonly dollarsPerMillion: number
  readonly dollarsPerCoreHour: number
  readonly dollarsPerGibHour: number
}

export const TYPICAL: Omit<Load, 'agents'> = {
  turnsPerHour: 60,
  resultsPerTurn: 1,
  resultBytes: 4_096,
  movingShare: 1,
  newShare: 0.5,
  originalHours: 24,
  sessionHours: 24,
  workHours: 2,
  largestTenant: 0.2,
  coresPerPod: 4,
  nodeGib: 48,
  savedTokens: 80,
  dollarsPerMillion: 3,
  dollarsPerCoreHour: 0.04,
  dollarsPerGibHour: 0.005,
}

export interface Capacity {
  readonly resultsPerS: number
  readonly pods: number
  readonly cores: number
  /** What bounds the number of pods. */
  readonly podsBy: 'threads' | 'main thread' | 'availability'
  readonly redisCallsPerS: number
  readonly redisGib: number
  /** Nodes of Redis, without their replicas. */
  readonly redisNodes: number
  readonly nodesBy: 'processor' | 'memory' | 'one is enough'
  /** Agents that one tenant may have, since a tenant is on one node. */
  readonly tenantMostAgents: number
  readonly breaksFirst: string
  readonly savedPerHour: number
  readonly spentPerHour: number
}

/** Above this share of a processor, waiting grows faster than work. */
const BUSY = 0.6
/** So many pods stay when one is lost or replaced. */
const LEAST_PODS = 3
const GIB = 2 ** 30

/** What a load needs, by measured costs. */
export function capacityOf(load: Load, costs: Costs = MEASURED): Capacity {
  const resultsPerS = (load.agents * load.turnsPerHour * load.resultsPerTurn) / 3_600
  const { serviceUs, mainUs, redisUs, calls } = costsOfEncode(costs, load.movingShare)
  const byThreads = (resultsPerS * serviceUs) / 1e6 / BUSY / load.coresPerPod
  const byMain = (resultsPerS * mainUs) / 1e6 / BUSY
  const pods = Math.ceil(Math.max(LEAST_PODS, byThreads, byMain))
  const bytes = bytesInRedis(load, costs, resultsPerS)
  const nodesByTime = (resultsPerS * redisUs) / 1e6 / BUSY
  const nodesByBytes = bytes / GIB / load.nodeGib
  const redisNodes = Math.max(1, Math.ceil(Math.max(nodesByTime, nodesByBytes)))
  const most = (load.agents / Math.max(nodesByTime, nodesByBytes)) | 0
  const cores = pods * load.coresPerPod
  const isLargeTenant = load.agents * load.largestTenant > most
  return {
    resultsPerS,
    pods,
    cores,
    podsBy: pods === LEAST_PODS ? 'availability' : byMain > byThreads ? 'main thread' : 'threads',
    redisCallsPerS: resultsPerS * calls,
    redisGib: bytes / GIB,
    redisNodes,
    nodesBy:
      redisNodes === 1 ? 'one is enough' : nodesByTime > nodesByBytes ? 'processor' : 'memory',
    tenantMostAgents: most,
    breaksFirst: firstToBreak({ isLargeTenant, nodesByTime, nodesByBytes, pods }),
    savedPerHour: (resultsPerS * 3_600 * load.savedTokens * load.dollarsPerMillion) / 1e6,
    spentPerHour:
      (cores + redisNodes * 2) * load.dollarsPerCoreHour +
      // Each node has a replica of its own.
      ((bytes / GIB) * 2 + pods) * load.dollarsPerGibHour,
  }
}

function bytesInRedis(load: Load, costs: Costs, resultsPerS: number): number {
  const texts = resultsPerS * load.newShare * load.originalHours * 3_600
  const live = (load.agents * (load.workHours + load.sessionHours)) / load.workHours
  // A session's journal is bounded by the changes that it keeps.
  const perSession = Math.min(512, load.turnsPerHour * load.resultsPerTurn * load.workHours)
  return (
    texts * load.resultBytes * costs.storedShare +
    live * (costs.sessionBytes + perSession * costs.resultBytes)
  )
}

function firstToBreak(is: {
  readonly isLargeTenant: boolean
  readonly nodesByTime: number
  readonly nodesByBytes: number
  readonly pods: number
}): string {
  if (is.isLargeTenant) return 'the largest tenant: it needs more than one node of Redis'
  if (is.nodesByBytes > Math.max(1, is.nodesByTime)) return 'the memory of one Redis: use a cluster'
  if (is.nodesByTime > 1) return 'the one thread of Redis: use a cluster'
  if (is.pods > LEAST_PODS) return 'the threads of the pods: add pods'
  return 'nothing: one process would do, the others are for availability'
}

/** Results that are played through the queues for the waiting time. */
const PLAYED = 300_000
const HEADER = [
  '| agents | results/s | pods | by | calls/s | Redis GiB | nodes | by | p99 wait, ms | saved $/h | spent $/h |',
  '|---:|---:|---:|---|---:|---:|---:|---|---:|---:|---:|',
]

/** What so many agents need, how long results wait, and what breaks first. */
export function capacityTable(counts: readonly number[], load: typeof TYPICAL): string {
  const costs = costsOfEncode(MEASURED, load.movingShare)
  const lines = counts.map(agents => {
    const need = capacityOf({ ...load, agents })
    const { p99WaitMs } = simulate(need, costs, { results: PLAYED, random: createRandom(1) })
    const cells = [
      agents,
      Math.round(need.resultsPerS * 10) / 10,
      need.pods,
      need.podsBy,
      Math.round(need.redisCallsPerS),
      need.redisGib.toFixed(need.redisGib < 1 ? 3 : 1),
      need.redisNodes,
      need.nodesBy,
      p99WaitMs.toFixed(1),
      need.savedPerHour.toFixed(2),
      need.spentPerHour.toFixed(2),
    ]
    const shown = cells.map(cell => (typeof cell === 'number' ? cell.toLocaleString('en') : cell))
    const most = need.tenantMostAgents.toLocaleString('en')
    return {
      row: `| ${shown.join(' | ')} |`,
      note: `- ${agents.toLocaleString('en')}: ${need.breaksFirst}; a tenant may have ${most} agents`,
    }
  })
  return [
    ...[...HEADER, ...lines.map(({ row }) => row)],
    ...['', 'What breaks first:', '', ...lines.map(({ note }) => note)],
  ].join('\n')
}
