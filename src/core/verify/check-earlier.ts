import { decisiveArgument } from '../hints/earlier-call.ts'
import type { EarlierCall } from '../hints/hint.ts'
import type { Shown } from '../hints/text-slot.ts'
import { isJsonObject } from '../hints/tool-call.ts'
import type { AgentContext, KnownText } from './agent-contexts.ts'
import type { CheckedAnswer } from './checked-answer.ts'

/**
 * A reference: its id means one text of the agent's context, no error, and the call it names had
 * that.
 */
export function wrongEarlier(
  { ref, call }: { readonly ref: string; readonly call?: EarlierCall },
  { context, identity }: CheckedAnswer,
): string | null {
  const found = context.find(ref)
  const [target] = found
  if (target === undefined) {
    const itself = identity.startsWith(ref) ? '; it is this result itself' : ''
    return `${ref} is no earlier result of this context${itself}`
  }
  const others = found.some(text => text.identity !== target.identity)
  if (others) return `${ref} fits several earlier results`
  if (found.every(text => text.isError)) return 'it refers to an error'
  return call === undefined ? null : wrongCall(call, target.identity, context)
}

/**
 * Whether a reader can know the earlier result by its id alone: an answer of this context showed
 * it.
 */
export function wasShown(ref: string, { results }: AgentContext): boolean {
  return results.some(({ answer }) => answer.content.includes(ref))
}

/** Why a reader who follows the name does not come to the text; `null` if they do. */
function wrongCall(
  call: EarlierCall,
  identity: string,
  { calls, texts }: AgentContext,
): string | null {
  const { calls_ago: ago } = call
  const named = texts.filter(text => isNamed(text, call))
  if (ago === undefined) {
    const last = named.at(-1)
    if (last === undefined) return 'no earlier call is so named'
    return last.identity === identity ? null : 'the latest call of this name had another text'
  }
  const then = named.filter(({ position }) => position === calls - ago)
  if (then.length === 0) return `${ago} calls ago no call had this name`
  return then.some(text => text.identity === identity) ? null : `${ago} calls ago was another text`
}

function isNamed({ name, args }: KnownText, call: EarlierCall): boolean {
  if (name !== call.tool) return false
  if (call.argument === undefined) return true
  const argument = wholeArgument(args)
  return argument !== undefined && isShownAs(argument, call.argument)
}

/** The decisive argument, uncut. */
function wholeArgument(args: unknown): string | undefined {
  const start = decisiveArgument(args)
  if (start === undefined || !isJsonObject(args)) return start
  return Object.values(args)
    .map(value => (typeof value === 'number' || typeof value === 'string' ? String(value) : ''))
    .find(value => value.startsWith(start))
}

function isShownAs(text: string, shown: Shown): boolean {
  if (typeof shown === 'string') return text === shown
  return 'start' in shown ? text.startsWith(shown.start) : text.endsWith(shown.end)
}
