import { hash } from 'node:crypto'
import {
  type CallName,
  decisiveArgument,
  nameEarlierCall,
} from '../../src/core/hints/earlier-call.ts'
import { renderHint } from '../../src/core/hints/hint-line.ts'
import { type SessionKey, sessionKey } from '../../src/core/sessions/index/session-index.ts'
import { argumentBodies } from '../../src/core/sessions/lines/argument-bodies.ts'
import { attachBodyMemory, type BodyMemory } from '../../src/core/sessions/lines/body-memory.ts'
import { decodeLines } from '../../src/core/sessions/lines/decode-lines.ts'
import { createBodyMemory } from '../../src/core/sessions/lines/memory-layout.ts'
import { encodeLines, planLines, type RunTerms } from '../../src/core/sessions/lines/plan-lines.ts'
import type { EarlierResult } from '../../src/core/sessions/lines/reference-line.ts'
import { scanText } from '../../src/core/sessions/lines/scan-text.ts'
import { findChanges, restoreNear } from '../../src/core/sessions/near/find-changes.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { ContextResult } from './recording.ts'

/** Shorter bodies are not referred to as a whole: `dedup.min_body_chars`. */
const MIN_BODY_BYTES = 200
/** Earlier results that are tried for a near reference. */
const NEAR_CANDIDATES = 20
const MEMORY_BYTES = 1 << 28

export interface PlayOptions {
  readonly counter: TokenCounter
  /** Whether long arguments of calls count as earlier bodies too. */
  readonly withArguments: boolean
  /** Whether nothing from before a compaction is referred to. */
  readonly heedCompaction: boolean
  /** When a reference to lines is written; absent: as usual. */
  readonly terms?: RunTerms
}

/** What references would have saved of one result, and how many lines of them. */
export interface Played {
  readonly tokens: number
  readonly exact: number
  readonly near: number
  readonly lines: number
  readonly references: number
}

interface Body {
  /** Call it came from. */
  readonly at: number
  /** Argument it was, if it was one. */
  readonly argument?: string
  readonly text: string
}

const VERBOSITY = 'standard'

/** What one agent has seen so far, and what can be referred to. */
interface AgentContext {
  /** Begins the context of a result, empty if it is another one than before. */
  open(result: ContextResult): void
  /** The call of the result that comes now; its number. */
  begin(tool: string): number
  /** The call of the result is over. */
  end(call: CallName): void
  /** The earlier result of a body's SHA-256. */
  find(identity: string): EarlierResult | undefined
  textOf(ref: string): string | undefined
  /** The last bodies, newest first, by their SHA-256. */
  newest(count: number): readonly (readonly [identity: string, text: string])[]
  keep(text: string, body: Omit<Body, 'text'>): void
  /** Names the context in the memory of bodies. */
  key(): SessionKey
}

function createAgentContext(memory: BodyMemory, heedCompaction: boolean): AgentContext {
  let context = ''
  let calling = ''
  let calls: CallName[] = []
  let bodies = new Map<string, Body>()
  const key = () => sessionKey('bench', context)

  return {
    open({ session, epoch }) {
      const here = heedCompaction ? `${session} ${epoch}` : session
      if (here === context) return
      context = here
      calls = []
      bodies = new Map()
    },
    begin(tool) {
      calling = tool
      return calls.length
    },
    end(call) {
      calls.push(call)
    },
    find(identity) {
      const body = bodies.get(identity)
      if (body === undefined) return undefined
      // The call that is answered, or one before it.
      const call = body.at === calls.length ? { tool: calling } : nameEarlierCall(calls, body.at)
      const tool = body.argument === undefined ? call.tool : `${call.tool}.${body.argument}`
      return { ref: identity.slice(0, 8), call: { ...call, tool } }
    },
    textOf(ref) {
      for (const [identity, { text }] of bodies) if (identity.startsWith(ref)) return text
      return undefined
    },
    newest: count =>
      [...bodies]
        .reverse()
        .slice(0, count)
        .map(([identity, { text }]) => [identity, text] as const),
    keep(text, body) {
      const identity = hash('sha256', text)
      if (bodies.has(identity)) return
      bodies.set(identity, { ...body, text })
      const scanned = scanText(text, key())
      if (scanned !== null) memory.put(scanned, key(), identity)
    },
    key,
  }
}

/**
 * Plays results in order as one agent after the other saw them; every reference is resolved, every
 * byte compared.
 */
export function createPlayer(options: PlayOptions): (result: ContextResult) => Played {
  const { counter } = options
  const memory = attachBodyMemory(createBodyMemory({ bytes: MEMORY_BYTES }))
  const context = createAgentContext(memory, options.heedCompaction)
  const { find, textOf, keep } = context

  function exact(text: string, tokens: number): number {
    const earlier =
      Buffer.byteLength(text) < MIN_BODY_BYTES ? undefined : find(hash('sha256', text))
    if (earlier === undefined) return 0
    return tokens - counter.count(renderHint({ family: 'reference', ...earlier }, VERBOSITY))
  }

  function near(text: string, tokens: number): number {
    for (const [identity, before] of context.newest(NEAR_CANDIDATES)) {
      const changes = findChanges(before, text)
      if (changes === null) continue
      if (restoreNear(before, changes) !== text) throw new Error('a near reference is wrong')
      const earlier = find(identity)!
      const hint = renderHint({ family: 'near_reference', ...earlier, changes }, VERBOSITY)
      return tokens - counter.count(hint)
    }
    return 0
  }

  function lines(text: string, tokens: number): readonly [saved: number, references: number] {
    const key = context.key()
    const scanned = scanText(text, key)
    const { terms } = options
    const plan =
      scanned === null
        ? null
        : planLines(
            scanned,
            { memory, key, find },
            {
              counter,
              verbosity: VERBOSITY,
              ...(terms === undefined ? {} : { terms }),
            },
          )
    if (plan === null) return [0, 0]
    const answer = encodeLines(plan)
    if (decodeLines(answer, textOf, text.length) !== text)
      throw new Error('a line reference is wrong')
    const saved = tokens - counter.count(answer)
    return saved > 0 ? [saved, plan.runs.length] : [0, 0]
  }

  function playOne({ text, tool, args, isError }: ContextResult): Played {
    const tokens = counter.count(text)
    const none = { tokens, exact: 0, near: 0, lines: 0, references: 0 }
    const at = context.begin(tool)
    if (options.withArguments) {
      for (const { name, text: given } of argumentBodies(args)) keep(given, { at, argument: name })
    }
    if (isError) return none
    const whole = exact(text, tokens)
    const alike = whole > 0 ? 0 : near(text, tokens)
    const [saved, references] = whole > 0 || alike > 0 ? [0, 0] : lines(text, tokens)
    keep(text, { at })
    return { tokens, exact: Math.max(0, whole), near: Math.max(0, alike), lines: saved, references }
  }

  return result => {
    context.open(result)
    const played = playOne(result)
    const argument = decisiveArgument(result.args)
    context.end({ tool: result.tool, ...(argument === undefined ? {} : { argument }) })
    return played
  }
}
