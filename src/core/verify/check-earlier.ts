import { decisiveArgument } from '../hints/earlier-call.ts'
import type { EarlierCall } from '../hints/hint.ts'
import type { Shown } from '../hints/text-slot.ts'
import { isJsonObject } from '../hints/tool-call.ts'
import type { AgentContext, GivenResult } from './agent-contexts.ts'
import type { CheckedAnswer } from './checked-answer.ts'

/** A reference: its id means one result of the agent's context, no error, and the call it names gave that. */
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
  if (found.length > 1) return `${ref} fits ${found.length} earlier results`
  const given = context.results.filter(result => result.identity === target.identity)
  if (given.every(({ request }) => request.is_error === true)) return 'it refers to an error'
  return call === undefined ? null : wrongCall(call, target.identity, context)
}

/** Whether a reader can know the earlier result by its id alone: an answer of this context showed it. */
export function wasShown(ref: string, { results }: AgentContext): boolean {
  return results.some(({ answer }) => answer.content.includes(ref))
}

/** Why a reader who follows the name does not come to the result; `null` where they do. */
function wrongCall(call: EarlierCall, identity: string, { results }: AgentContext): string | null {
  const { calls_ago: ago } = call
  const result =
    ago === undefined ? results.findLast(other => isNamed(other, call)) : results.at(-ago)
  if (result === undefined) {
    return ago === undefined ? 'no earlier call is so named' : 'no call is so long ago'
  }
  if (!isNamed(result, call)) return `${ago} calls ago another tool or argument was called`
  if (result.identity === identity) return null
  return ago === undefined
    ? 'the latest call of this name gave another result'
    : `${ago} calls ago there was another result`
}

function isNamed({ request: { tool, args } }: GivenResult, call: EarlierCall): boolean {
  if (tool !== call.tool) return false
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
