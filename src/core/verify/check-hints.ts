import { formatLabel } from '../formats/text/text-format.ts'
import { decisiveArgument } from '../hints/earlier-call.ts'
import {
  type EarlierCall,
  type FormatHint,
  type Hint,
  type MetadataHint,
  type OverflowHint,
  type SearchChainHint,
  VERBOSITIES,
} from '../hints/hint.ts'
import { hintLine, parseHint } from '../hints/hint-line.ts'
import { nextPageCall } from '../hints/next-page-call.ts'
import { CHAIN_CALLS, CHAIN_SEARCHES } from '../hints/policy.ts'
import type { Shown } from '../hints/text-slot.ts'
import { isJsonObject } from '../hints/tool-call.ts'
import { isSearch } from '../pipeline/is-search.ts'
import { unmarkJson } from '../pipeline/json-marker.ts'
import { withoutEscapes } from '../pipeline/wrapped-format.ts'
import { readReference } from '../sessions/lines/reference-line.ts'
import type { AgentContext, KnownText } from './agent-contexts.ts'
import { bodyOf } from './answer-body.ts'
import { wrongElision } from './check-elision.ts'
import type { CheckedAnswer, Fault } from './checked-answer.ts'
import { checkUnlisted } from './look-alikes.ts'

/** Every hint that an answer lists: it is there, can be read, and is true. */
export function checkHints(checked: CheckedAnswer, maxChars: number): Fault[] {
  const { content, hints } = checked.answer
  const faults: Fault[] = []
  const lines = countLines(content)
  for (const { family, text } of hints) {
    const blame = (reason: string) => {
      faults.push({ family: family as Fault['family'], reason, hint: text })
    }
    const times = lines.get(text) ?? 0
    lines.set(text, times - 1)
    if (times === 0 && unmarkJson(content, text) === null) blame('it is no line of the content')
    const hint = readListed(family, text)
    if (hint === null) blame('it cannot be read')
    else if (hint !== 'continued') {
      const reason = wrongClaim(hint, text, checked, maxChars)
      if (reason !== null) blame(reason)
    }
  }
  return [...faults, ...checkUnlisted(checked)]
}

/** A line of `lines@1` that continues with the result of the line before has only its place. */
function readListed(family: string, text: string): Hint | 'continued' | null {
  const hint = parseHint(text)
  if (hint !== null) return hint.family === family ? hint : null
  if (family !== 'lines') return null
  const reference = readReference(text)
  if (reference === null) return null
  if (reference.ref === undefined) return 'continued'
  return parseHint(text.slice(0, text.lastIndexOf(']') + 1))
}

/** Why a hint's claim is not true; `null` if it is. */
function wrongClaim(
  hint: Hint,
  line: string,
  checked: CheckedAnswer,
  maxChars: number,
): string | null {
  switch (hint.family) {
    case 'metadata':
      return wrongMetadata(hint, line, checked)
    case 'overflow':
      return wrongOverflow(hint, line, checked)
    case 'format':
      return wrongFormat(hint, checked)
    case 'search_chain':
      return wrongSearchChain(hint, checked)
    case 'elision':
      return wrongElision(hint, checked, maxChars)
    case 'reference': {
      // Terse lines have no name, because their reader can ask the service.
      const isNameless = hint.call === undefined && line.includes(', ')
      const isKnown = !isNameless || wasShown(hint.ref, checked.context)
      return isKnown ? wrongEarlier(hint, checked) : 'it has no call, and its id was never shown'
    }
    case 'near_reference':
    case 'lines':
      return wrongEarlier(hint, checked)
  }
}

function countLines(text: string): Map<string, number> {
  const lines = new Map<string, number>()
  for (const line of text.split('\n')) lines.set(line, (lines.get(line) ?? 0) + 1)
  return lines
}

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

/** Metadata: what the request states of the result, and only if there is more. */
function wrongMetadata(
  hint: MetadataHint,
  line: string,
  { request }: CheckedAnswer,
): string | null {
  const { pagination, query, sort } = request
  if (pagination === undefined) return 'the request says nothing of a total'
  const { total, returned } = pagination
  if (hint.total !== total) return `the total is ${total}, not ${hint.total}`
  if (hint.returned !== returned) return `${returned} were returned, not ${hint.returned}`
  if (total <= returned) return 'nothing more exists than was returned'
  const facts: MetadataHint = {
    family: 'metadata',
    total,
    returned,
    ...(query === undefined ? {} : { query }),
    ...(sort === undefined ? {} : { sort: { by: sort.by, order: sort.order } }),
  }
  return isLineOf(facts, line) ? null : 'query or order are not those of the request'
}

/**
 * Overflow: as many as are left, and the very call that the request's arguments and pagination
 * show.
 */
function wrongOverflow(
  hint: OverflowHint,
  line: string,
  { request }: CheckedAnswer,
): string | null {
  const { pagination, tool, args } = request
  if (pagination === undefined || tool === undefined) {
    return 'the request says nothing of further pages'
  }
  const { total, returned, offset = 0 } = pagination
  const left = total - offset - returned
  if (hint.omitted !== left) return `${left} more exist, not ${hint.omitted}`
  const next = nextPageCall(tool, args, pagination)
  if (next === null) return 'arguments and pagination do not show how the tool pages'
  const { unit } = hint
  const facts: OverflowHint = {
    family: 'overflow',
    omitted: left,
    ...(unit === undefined ? {} : { unit }),
    ...next,
  }
  return isLineOf(facts, line) ? null : 'the call does not give the next page'
}

/** Format: the one that the content is written in. */
function wrongFormat(hint: FormatHint, { answer }: CheckedAnswer): string | null {
  const format = bodyOf(answer)?.format ?? answer.format
  const label = formatLabel(withoutEscapes(format).format)
  return formatLabel(hint.format) === label ? null : `the content is written in ${label}`
}

/** Search chain: so many of the last calls look for something, the answered one among them. */
function wrongSearchChain(
  { searches, of }: SearchChainHint,
  { request, context }: CheckedAnswer,
): string | null {
  if (of !== CHAIN_CALLS) return `it counts ${of} calls, not ${CHAIN_CALLS}`
  const earlier = context.results.slice(1 - CHAIN_CALLS).map(result => result.request)
  const found = [...earlier, request].filter(({ tool, args }) => isSearch(tool, () => args)).length
  if (searches < CHAIN_SEARCHES) return `${searches} searches are no chain`
  return searches === found ? null : `${found} of them were searches`
}

function isLineOf(facts: Hint, line: string): boolean {
  return VERBOSITIES.some(verbosity => hintLine(facts, verbosity) === line)
}
