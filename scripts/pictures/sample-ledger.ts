import type { ResultRow } from '../../src/core/contract/result-row.ts'
import { createLedger } from '../../src/ledger/ledger.ts'
import { createTasks } from '../../src/ledger/tasks.ts'

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

const ROW: Omit<ResultRow, 'tool' | 'class' | 'before' | 'encoded' | 'received' | 'sent'> = {
  ...{ shape: 'array_of_objects', layer: 'L2', format: 'numbered@1', view: null },
  ...{ tokenizer: 'o200k_base', exact: true, referred: 0, omitted: 0 },
  ...{ session: null, original: null, reason: null },
}

/** Writes the ledger of the month before a time into a data folder. */
export async function writeSampleLedger(folder: string, now: number): Promise<void> {
  const tasks = createTasks()
  const fail = (cause: unknown) => {
    throw new Error(String(cause))
  }
  const ledger = createLedger({
    folder,
    limits: { max_rows: 100_000, max_bytes: 2 ** 28, ttl_ms: DAYS * DAY_MS, days: 400 },
    now: () => now,
    onUnwritten: fail,
    onDropped: fail,
    onBug: fail,
    thread: {
      run: async (_by, name, input) => tasks[name](input as never) as never,
      close: async () => {},
    },
  })
  for (let day = DAYS - 1; day >= 0; day--) {
    const at = now - day * DAY_MS
    for (const [index, { project, agent, model, tool, share }] of WORK.entries()) {
      const before = share * 4_000 * (day % 7 < 2 ? 1 : 4 + ((day * 5 + index * 3) % 7))
      const encoded = Math.round(before * (0.3 + 0.02 * ((day + index) % 5)))
      const origin = { project, agent }
      const texts = { received: `${day} ${index}`, sent: `packed ${day} ${index}` }
      const row: ResultRow = { ...ROW, ...texts, tool, class: tool, before, encoded }
      ledger.result({
        tenant: 'local',
        at,
        source: 'anthropic',
        row: JSON.stringify(row),
        origin,
        model,
      })
      const without = before * 4.5
      const billed = without - encoded
      const [money, saved] = [DOLLARS_PER_TOKEN * billed, without - billed]
      ledger.turn({
        tenant: 'local',
        turn: {
          ...{ at, vendor: 'anthropic', conversation: `${index}`.repeat(16), model, known: true },
          ...{ uncached: before - encoded, cache_read: 9 * before, cache_write: 0, output: 900 },
          ...{ removed: encoded, billed, without, untouched: null, prefix_changed: false },
        },
        bill: {
          tools: [[tool, saved]],
          money: { currency: 'USD', billed: money, without: DOLLARS_PER_TOKEN * without },
          isHidden: false,
        },
        origin,
      })
    }
  }
  await ledger.close()
}
