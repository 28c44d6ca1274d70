import { NumberLiteral, ObjectValue, type Value } from '../json/value.ts'
import { canonicalArguments } from './call-key.ts'
import { acceptsArguments, isTextOnly, memberOf, requiredArguments } from './input-schema.ts'
import { listValues, type TriggerResult } from './result-values.ts'
import { addressedHosts } from './url-arguments.ts'
import type { FollowUp } from './value-model.ts'

/** One call whose arguments stand in the trigger's result. Plain data. */
export interface OfferedCall {
  /** `canonicalArguments`: JSON with sorted keys, numbers in the result's own spelling. */
  readonly args: string
  /** `addressedHosts` of the arguments. */
  readonly hosts: readonly string[] | null
  /** Its place in the list: 1, 2 or 3. */
  readonly rank: number
  /** How many there are in the list. */
  readonly listed: number
}

/** The links of a tool whose result is read for calls that may come next. */
export interface OfferTerms {
  readonly links: readonly OfferLink[]
  /** The call's own arguments as JSON, if targets may take some of them over. */
  readonly args?: Uint8Array
}

export interface OfferLink {
  readonly link: FollowUp
  /** The target's `inputSchema` as JSON; absent: it has none. */
  readonly inputSchema?: Uint8Array
  /** Whether the target is of the same server, and may take arguments over. */
  readonly takesOver: boolean
}

/** The tool that is to be called, and what its call may take over from the trigger's. */
export interface ProjectionTarget {
  readonly inputSchema?: Value | undefined
  /**
   * The trigger's arguments, if both tools are of one server. Those that the target requires and
   * the result does not give are taken over, for example the owner and the name of a repository.
   */
  readonly triggerArgs?: Value | undefined
}

/**
 * The calls that a link makes of a result: at most three, each accepted by the target's schema.
 * An empty list if the link names no value and argument, the result has none, or none is accepted.
 */
export function projectCalls(
  { projection, projection_arg: argument }: FollowUp,
  result: TriggerResult,
  { inputSchema, triggerArgs }: ProjectionTarget,
): readonly OfferedCall[] {
  if (projection === undefined || argument === undefined) return []
  const { values, count } = listValues(result, projection)
  const taken = takenOver(inputSchema, triggerArgs, argument)
  return values.flatMap((value, at) => {
    const fitting = asText(value, isTextOnly(inputSchema, argument))
    const args = new ObjectValue([argument, ...taken.keys], [fitting, ...taken.values])
    const canonical = canonicalArguments(args)
    const isAccepted = !hasControls(fitting) && acceptsArguments(inputSchema, args)
    if (canonical === null || !isAccepted) return []
    return [{ args: canonical, hosts: addressedHosts(args), rank: at + 1, listed: count }]
  })
}

/** A number as text, in its spelling, if the schema takes nothing else. */
function asText(value: Value, isText: boolean): Value {
  if (!isText || typeof value === 'string') return value
  return value instanceof NumberLiteral ? value.text : String(value)
}

function takenOver(
  inputSchema: Value | undefined,
  triggerArgs: Value | undefined,
  argument: string,
): ObjectValue {
  const names = [...new Set(requiredArguments(inputSchema))].filter(name => {
    const value = memberOf(triggerArgs, name)
    const isScalar = typeof value !== 'object' || value instanceof NumberLiteral
    return name !== argument && value !== undefined && isScalar
  })
  return new ObjectValue(
    names,
    names.map(name => memberOf(triggerArgs, name)!),
  )
}

/** Control characters have no place in a name or an address. */
function hasControls(value: Value): boolean {
  return typeof value === 'string' && /\p{Cc}/u.test(value)
}
