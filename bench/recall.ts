import { AppError } from '../src/core/base/errors.ts'
import { pipelineSchema } from '../src/core/pipeline/profile/pipeline-config.ts'
import { bodyOf } from '../src/core/verify/answer-body.ts'
import type { EncodeRequest } from '../src/index.ts'
import { createLocalContext } from '../src/library/local-context.ts'
import { createLocalSessions } from '../src/library/local-sessions.ts'
import { argumentsOf } from './recall/arguments.ts'
import { costOf, createView, type Seen, type Turn } from './recall/view.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { type Conversation, conversationsOf } from './turns/conversations.ts'

/**
 * npm run bench -- recall CORPUS [--sample N] [--prompt TOKENS] [--results N]
 *
 * Whether an agent can see what it needs: lines that edits quote, paths, identifiers and numbers of
 * 12 characters or more in the arguments of recorded calls, at their first use, if an earlier
 * result of the context has them. Each is visible as sent, visible by a notation or a reference,
 * one fetch away, or lost. Beside it the cost with prompt caches that live 300 s by the recorded
 * times, with so many results a turn. A need costs a turn, 150 tokens of output and its text;
 * `+.5` and `+.8` add so many calls for each result that lacks parts.
 */
const options = readOptions({ corpus: REQUIRED, sample: 1, prompt: 20_000, results: 1 })
const local = createLocalContext()

/** How results are sent, and which of the earlier ones stay in view. */
interface Arm {
  readonly name: string
  readonly request: Partial<EncodeRequest>
  /** Newest results that stay at a pause, with a stub in place of each other one; absent: all. */
  readonly atPauses?: number
  /** Newest results that stay at each turn, without a stub; absent: all. */
  readonly masked?: number
}

/** Its cost is not computed: it writes the cache at each turn. */
const MASKED = 'the last 10 results alone'

const ARMS: readonly Arm[] = [
  { name: 'lossless', request: {} },
  { name: '`mode: elide`', request: { mode: 'elide' } },
  { name: '`mode: elide`, whatever it saves', request: { mode: 'elide', min_saved_tokens: 0 } },
  { name: 'level `compact`', request: { response_budget: 'compact' } },
  { name: 'clearing at pauses', request: {}, atPauses: 8 },
  {
    name: '`mode: elide`, and clearing',
    request: { mode: 'elide' },
    atPauses: 8,
  },
  { name: MASKED, request: {}, masked: 10 },
]

interface Sums {
  arguments: number
  calls: number
  edits: number
  seen: Record<Seen, number>
  wholeCalls: number
  wholeEdits: number
  cut: number
  before: number
  after: number
  costs: [number, number, number]
  /** Dearer than lossless, with half a call more for each cut result. */
  dearer: number
}

const newSums = (): Sums => ({
  arguments: 0,
  calls: 0,
  edits: 0,
  seen: { sent: 0, decoded: 0, fetched: 0, lost: 0 },
  wholeCalls: 0,
  wholeEdits: 0,
  cut: 0,
  before: 0,
  after: 0,
  costs: [0, 0, 0],
  dearer: 0,
})

/** More calls for each result that lacks parts. */
const EXTRA_CALLS = [0, 0.5, 0.8] as const

function play({ name, steps }: Conversation, arm: Arm, sums: Sums): readonly number[] {
  const pipeline = pipelineSchema.parse({})
  const context = { ...local, pipeline, keepsOriginals: true }
  const sessions = createLocalSessions(context, { bodyBytes: 64 * 1024 * 1024 })
  const view = createView(arm)
  const turns: Turn[] = []
  for (const { tool, args, text, isError, ts } of steps) {
    const at = ts == null ? undefined : Date.parse(ts)
    view.begin(at)
    const { needs, isEdit } = argumentsOf(tool, args)
    const found = view.look(needs)
    count(sums, found.seen, isEdit)
    const request = { content: text, tool, args, session: name, is_error: isError, ...arm.request }
    const answer = sessions.encode(request)
    const whole = wholeOf(sessions, answer, name)
    view.pass({ text, sent: answer.content, whole, isCut: !answer.lossless })
    sums.before += answer.tokens.baseline
    sums.after += answer.tokens.final
    if (!answer.lossless) sums.cut++
    turns.push({
      at,
      call: local.counters.get('o200k_base').count(JSON.stringify(args ?? {})),
      result: answer.tokens.final,
      removed: view.removed(),
      fetched: found.fetched.map(each => local.counters.get('o200k_base').count(each)),
      isCut: !answer.lossless,
    })
  }
  return EXTRA_CALLS.map(extra => costOf(turns, { ...options, extra }))
}

function count(sums: Sums, seen: readonly Seen[], isEdit: boolean): void {
  if (seen.length === 0) return
  const isWhole = seen.every(each => each === 'sent' || each === 'decoded')
  sums.calls++
  sums.arguments += seen.length
  for (const each of seen) sums.seen[each]++
  if (isWhole) sums.wholeCalls++
  if (!isEdit) return
  sums.edits++
  if (isWhole) sums.wholeEdits++
}

type Sessions = ReturnType<typeof createLocalSessions>

/**
 * What a reader of the answer has, with references and notations resolved. An answer that cannot be
 * decoded counts as it was sent.
 */
function wholeOf(
  sessions: Sessions,
  answer: ReturnType<Sessions['encode']>,
  session: string,
): string {
  const body = bodyOf(answer)
  if (body === null) return answer.content
  try {
    return sessions.decode({ ...body, session }).content
  } catch (error) {
    if (error instanceof AppError) return answer.content
    throw error
  }
}

const conversations = conversationsOf(options.corpus).filter((_, n) => n % options.sample === 0)
const all = new Map<string, Sums>(ARMS.map(({ name }) => [name, newSums()]))
for (const conversation of conversations) {
  let usual: readonly number[] = []
  for (const arm of ARMS) {
    const sums = all.get(arm.name)!
    const costs = play(conversation, arm, sums)
    if (arm.name === 'lossless') usual = costs
    costs.forEach((cost, at) => {
      sums.costs[at] = sums.costs[at]! + cost
    })
    if (costs[1]! > usual[1]!) sums.dearer++
  }
}

const share = (part: number, of: number) => `${((100 * part) / of).toFixed(1)} %`
const [base] = all.values()
const rows = [...all].map(([name, sums]) => {
  const { seen, costs } = sums
  const over = costs.map(
    (cost, at) => `${((100 * (base!.costs[at]! - cost)) / base!.costs[at]!).toFixed(1)}`,
  )
  return [
    name,
    String(sums.cut),
    share(sums.before - sums.after, sums.before),
    share(seen.sent, sums.arguments),
    share(seen.sent + seen.decoded, sums.arguments),
    share(sums.wholeCalls, sums.calls),
    share(sums.wholeEdits, sums.edits),
    share(seen.fetched, sums.arguments),
    share(seen.lost, sums.arguments),
    ...(name === MASKED ? ['–', '–', '–', '–'] : [...over, String(sums.dearer)]),
  ]
})
process.stdout.write(
  [
    `${conversations.length} conversations, ${base!.arguments} arguments of ${base!.calls} calls, ` +
      `${base!.edits} edits; a prompt of ${options.prompt} tokens, ${options.results} results a turn.`,
    JSON.stringify(machine()),
    markdownTable(
      [
        'arm',
        'cut',
        'tokens saved',
        'as sent',
        'visible',
        'calls',
        'edits',
        'to fetch',
        'lost',
        'cost, points',
        '+.5',
        '+.8',
        'dearer',
      ],
      rows,
    ),
    '',
  ].join('\n\n'),
)
