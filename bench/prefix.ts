import { type ScannedRequest, scanRequest } from '../src/core/conversation/parse/scan-request.ts'
import { createHeadMemory } from '../src/core/conversation/prefix/head-memory.ts'
import { normaliseTools } from '../src/core/conversation/prefix/normal-tools.ts'
import { generatedTexts } from './support/generated-text.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'

/**
 * npm run bench -- prefix
 *
 * Processor time of looking for changes before a conversation and of sorting its tools, for each
 * turn, by the size of what stands there. 16 conversations take turns, as in a thread of the
 * service.
 */
const CONVERSATIONS = 16
const TURNS = 50
const TOOLS = 30
const LIMITS = { maxBytes: 1 << 26, maxDepth: 100, maxValues: 1_000_000 }
const SIZES_KB = [20, 60, 200] as const

const TEXT = generatedTexts(22, 400).join('\n')

/** What a conversation says before it begins; `value` is what changes. */
function headOf(kilobytes: number, value: string) {
  const half = (kilobytes * 1_024) / 2
  const description = TEXT.slice(0, half / TOOLS)
  const tools = Array.from({ length: TOOLS }, (_, i) => ({
    name: `tool_${(i * 7) % TOOLS}`,
    description,
  }))
  const system = `${TEXT.slice(-half)}\nSession: ${value}`
  return { tools, system }
}

function bodyOf(head: object, conversation: number, turns: number): Uint8Array {
  const more = Array.from({ length: turns }, (_, i) => [
    { role: 'assistant', content: `Step ${i} of ${conversation}` },
    { role: 'user', content: `More ${i}` },
  ])
  const messages = [{ role: 'user', content: `Do ${conversation}.` }, ...more.flat()]
  return Buffer.from(JSON.stringify({ model: 'claude-x', ...head, messages }))
}

/** All requests, as a thread has scanned them. */
function requestsWith(kilobytes: number, isChanging: boolean): ScannedRequest[] {
  const base = headOf(kilobytes, '')
  return Array.from({ length: TURNS * CONVERSATIONS }, (_, i) => {
    const value = isChanging ? crypto.randomUUID() : 'constant'
    const head = { ...base, system: base.system + value }
    const body = bodyOf(head, i % CONVERSATIONS, Math.floor(i / CONVERSATIONS))
    return scanRequest(body, 'anthropic_messages', LIMITS) as ScannedRequest
  })
}

/** Processor time in microseconds of each call. */
function timed<T>(items: readonly T[], run: (item: T) => void): number {
  const start = process.cpuUsage()
  for (const item of items) run(item)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / items.length
}

function measure(kilobytes: number, isChanging: boolean) {
  const requests = requestsWith(kilobytes, isChanging)
  const heads = createHeadMemory()
  let found = 0
  const seeing = timed(requests, request => {
    if (heads.see(request, { tenant: 't', key: 'k' }) !== null) found++
  })
  const sorting = timed(requests, request => {
    normaliseTools(request, { decide: (_, make) => make() })
  })
  return [kilobytes, isChanging ? 'a uuid in each' : 'constant', found, seeing, sorting]
}

measure(20, true)
const rows = SIZES_KB.flatMap(kilobytes => [false, true].map(each => measure(kilobytes, each)))
const header = ['KB before it', 'requests', 'changes found', 'µs a turn', 'µs to sort tools']
process.stdout.write(`${JSON.stringify(machine())}\n${markdownTable(header, rows)}\n`)
