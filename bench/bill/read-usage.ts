import { z } from 'zod'
import type { BillCall, BillResult, BillSession } from '../../src/lab/bill/session.ts'

const tokens = z.int().nonnegative()
const line = z.object({
  session: z.string().min(1),
  call: tokens,
  ts: z.number().positive(),
  end: z.number().positive(),
  model: z.string().min(1),
  ...{ input: tokens, cache_read: tokens, cache_write: tokens, cache_write_1h: tokens },
  output: tokens,
  o200k: z.object({ thinking: tokens, text: tokens, calls: tokens, user: tokens }),
  results: z.array(z.tuple([tokens, z.string()])),
  user_texts: tokens,
  compacted: z.boolean(),
})
type Line = z.output<typeof line>

/** Finds a result by its session and time; `null` if it was not recorded. Each is found once. */
export type FindResult = (session: string, ts: string) => BillResult | null

/**
 * Sessions of a text with a call a line (`bill/usage.jsonl` of the corpus; its MANIFEST explains
 * the fields).
 * @throws Error with each line that is refused, and why: a bill with a gap is no bill
 */
export function readUsage(source: string, find: FindResult): readonly BillSession[] {
  const sessions = new Map<string, { readonly lines: Line[]; readonly calls: BillCall[] }>()
  const faults: string[] = []
  for (const [index, text] of source.split('\n').entries()) {
    if (text === '') continue
    const parsed = line.safeParse(jsonOf(text))
    const found = parsed.success ? sessions.get(parsed.data.session) : undefined
    const fault = parsed.success
      ? faultOf(parsed.data, found?.lines.at(-1))
      : `${parsed.error.issues[0]?.path.join('.') || 'line'}: ${parsed.error.issues[0]?.message}`
    if (fault !== null || !parsed.success) {
      faults.push(`line ${index + 1}: ${fault}`)
      continue
    }
    const own = found ?? { lines: [], calls: [] }
    own.lines.push(parsed.data)
    own.calls.push(callOf(parsed.data, find))
    sessions.set(parsed.data.session, own)
  }
  if (faults.length > 0) throw new Error(`the usage is refused:\n${faults.join('\n')}`)
  return [...sessions].map(([name, { calls }]) => ({ name, calls }))
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Calls of a session are numbered from 0, without gaps, and in the order of their times. */
function faultOf(now: Line, before: Line | undefined): string | null {
  const wanted = (before?.call ?? -1) + 1
  if (before !== undefined && now.call <= before.call) {
    return now.call === before.call ? `call ${now.call} comes twice` : `call ${now.call} is late`
  }
  if (now.call !== wanted) return `call ${wanted} of ${now.session} is missing`
  if (before !== undefined && now.ts < before.ts) return `call ${now.call} is before the last one`
  if (now.cache_write_1h > now.cache_write) return 'more is written for an hour than in all'
  return null
}

function callOf(of: Line, find: FindResult): BillCall {
  const { session, ts, end, model, output, o200k, compacted } = of
  const results = of.results.map(([, time]) => find(session, time))
  const unknown = of.results.reduce((sum, [size], at) => sum + (results[at] === null ? size : 0), 0)
  return {
    ...{ ts, end, model, output, compacted },
    ...{ fresh: of.input, read: of.cache_read, write: of.cache_write, hour: of.cache_write_1h },
    ...{ said: o200k.thinking + o200k.text, calls: o200k.calls },
    // A result that was not recorded stays as it is, as the user's texts do.
    user: o200k.user + unknown,
    userTexts: of.user_texts,
    results: results.filter(each => each !== null),
  }
}
