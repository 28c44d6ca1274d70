import { Book } from '../../src/book/book.ts'
import { createTasks } from '../../src/book/tasks.ts'
import { resultOf } from '../../test/support/ledger/rows.ts'

/** A month of work that was made up, for pictures: no figure of it was measured. */
const WORK = [
  { project: 'atlas-api', agent: 'claude', model: 'claude-sonnet-4-5', tool: 'Read', share: 5 },
  { project: 'atlas-api', agent: 'claude', model: 'claude-sonnet-4-5', tool: 'Grep', share: 3 },
  { project: 'web-console', agent: 'codex', model: 'gpt-5.1', tool: 'shell', share: 4 },
  { project: 'web-console', agent: 'claude', model: 'claude-sonnet-4-5', tool: 'Bash', share: 2 },
  {
    project: 'infra',
    agent: 'claude',
    model: 'claude-sonnet-4-5',
    tool: 'mcp__github__list_issues',
    share: 2,
  },
] as const

const DAY_MS = 86_400_000
const DAYS = 30
const DOLLARS_PER_TOKEN = 3 / 1e6

const ROW = { layer: 'L2', format: 'numbered@1' } as const

/** A ledger in this thread. */
function ledgerOf(folder: string, now: number): Book {
  const tasks = createTasks()
  const fail = (cause: unknown) => {
    throw new Error(String(cause))
  }
  return new Book({
    folder,
    limits: { max_rows: 100_000, max_bytes: 2 ** 28, ttl_ms: DAYS * DAY_MS, days: 400 },
    now: () => now,
    onUnwritten: fail,
    onDropped: fail,
    onBug: fail,
    thread: {
      run: async (_by, name, input) => (await tasks[name](input as never)) as never,
      close: async () => {},
    },
  })
}

/** Writes the ledger of a tenant's month before a time into a data folder. */
export async function writeSampleLedger(
  folder: string,
  now: number,
  tenant = 'local',
): Promise<void> {
  const ledger = ledgerOf(folder, now)
  for (let day = DAYS - 1; day >= 0; day--) {
    const at = now - day * DAY_MS
    for (const [index, { project, agent, model, tool, share }] of WORK.entries()) {
      const before = share * 4_000 * (day % 7 < 2 ? 1 : 4 + ((day * 5 + index * 3) % 7))
      const encoded = Math.round(before * (0.3 + 0.02 * ((day + index) % 5)))
      const origin = { project, agent }
      const session = `${index}${day}`.padEnd(16, 'a')
      const texts = { received: `${day} ${index}`, sent: `packed ${day} ${index}`, session }
      const row = { ...ROW, ...texts, tool, before, encoded }
      ledger.result(resultOf(tenant, row, { at, source: 'anthropic', origin, model }))
      const without = before * 4.5
      const billed = without - encoded
      const [money, saved] = [DOLLARS_PER_TOKEN * billed, without - billed]
      ledger.turn({
        ...{ tenant, at, vendor: 'anthropic', conversation: session, model, known: true },
        ...{ uncached: before - encoded, cache_read: 9 * before, cache_write: 0, output: 900 },
        ...{ removed: encoded, billed, without, untouched: null, prefix_changed: false },
        tools: [[tool, saved]],
        money: { currency: 'USD', billed: money, without: DOLLARS_PER_TOKEN * without },
        isHidden: false,
        origin,
      })
    }
  }
  await ledger.close()
}

/** The conversation of the session below. */
export const SAMPLE_SESSION = 'c0ffee'.padEnd(16, '0')
const REQUESTS = 44
const TOOLS = ['Read', 'Bash', 'Grep', 'Edit', 'mcp__github__list_issues'] as const
const FORMATS = ['numbered@1', 'lines@1', 'prefixes@1', 'csv@1'] as const
const SHAPES = ['numbered_lines', 'log', 'search', 'array_of_objects'] as const

/** Writes a session of today, with a pause in it and a compaction. */
export async function writeSampleSession(
  folder: string,
  now: number,
  tenant: string,
): Promise<void> {
  const ledger = ledgerOf(folder, now)
  const about = {
    origin: { project: 'atlas-api', agent: 'claude' },
    model: 'claude-sonnet-4-5',
  }
  let [prompt, removed, at] = [0, 0, now - REQUESTS * 60_000 - 14 * 60_000]
  for (let turn = 0; turn < REQUESTS; turn++) {
    const isIdle = turn === 24
    const isCompacted = turn === 36
    at += isIdle ? 14 * 60_000 : 60_000
    const isRepeated = turn % 4 === 3
    const before = 900 + ((turn * 7_919) % 5_200)
    const saved = turn % 9 === 5 ? 0 : Math.round(before * (isRepeated ? 0.86 : 0.34))
    const [referred, encoded] = isRepeated ? [saved, 0] : [0, saved]
    const row = {
      ...ROW,
      tool: TOOLS[turn % TOOLS.length]!,
      ...{ received: `s${turn}`, sent: `packed s${turn}`, session: SAMPLE_SESSION },
      ...{ layer: isRepeated ? 'L0' : 'L2', format: FORMATS[turn % FORMATS.length]! },
      ...{ shape: SHAPES[turn % SHAPES.length]! },
      ...{ before, referred, encoded, reason: saved === 0 ? ('no_format' as const) : null },
    }
    ledger.result(resultOf(tenant, row, { at, source: 'anthropic', ...about }))
    const cached = isIdle || turn === 0 ? 0 : isCompacted ? 9_000 : prompt
    prompt = isCompacted ? 27_000 : Math.max(24_000, prompt) + before - saved + 260
    removed = isCompacted ? 1_200 : removed + saved
    const written = prompt - cached
    const billed = cached / 10 + written * 1.25 + 2_000
    const without = billed + (turn === 0 ? saved * 1.25 : removed / 10 + saved)
    ledger.turn({
      ...{ tenant, at, vendor: 'anthropic', conversation: SAMPLE_SESSION, ...about },
      ...{ known: true, uncached: 0, cache_read: cached, cache_write: written, output: 400 },
      ...{ removed, billed, without, untouched: null, prefix_changed: false },
      tools: [],
      money: {
        currency: 'USD',
        billed: DOLLARS_PER_TOKEN * billed,
        without: DOLLARS_PER_TOKEN * without,
      },
      isHidden: false,
    })
  }
  await ledger.close()
}
