import type { DefinitionsReport } from '../../contract/operation-result.ts'
import { memberOf, textOf } from '../../json/bytes/json-node.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { calledTools, definitionTokens } from './called-tools.ts'
import { type Deferred, droppedAt } from './defer-tools.ts'
import type { LeversInForce } from './levers.ts'

/** Names that are reported of one conversation. */
const MOST_NAMES = 256
const MOST_NAME = 128

interface Reported {
  readonly definitions?: DefinitionsReport
  /** Whether its tools are sent again from this turn on, which changes the prefix. */
  readonly isChanged: boolean
}

/** What a request's definitions of tools cost, and what became of those that were deferred. */
export function definitionsReport(
  scanned: ScannedRequest,
  levers: LeversInForce | null,
  of: { readonly deferred: Deferred | undefined; readonly context: ConversationContext },
): Reported {
  const { deferred, context } = of
  const { countsOnly, beside } = context.terms ?? {}
  const counted = countsOnly || beside ? null : definitionTokens(scanned, context)
  if (counted === null) return { isChanged: false }
  const called = calledTools(scanned)
  const defer = levers?.defer
  const dropped = defer?.hosted === true ? droppedAt(scanned, defer) : null
  const { all: tokens, byName } = counted
  const used = [...called].reduce((sum, name) => sum + (byName.get(name) ?? 0), 0)
  const names = [...called].filter(name => byName.has(name) && name.length <= MOST_NAME)
  return {
    definitions: {
      tokens,
      used,
      called: names.slice(0, MOST_NAMES),
      deferred: deferred?.tokens ?? 0,
      searches: deferred?.searches ?? 0,
      ...(dropped !== null && { isDropped: true }),
    },
    isChanged: dropped !== null && dropped >= lastOfModel(scanned),
  }
}

/** The message in which the model spoke last. */
function lastOfModel({ body, read }: ScannedRequest): number {
  return read.findLastIndex(node => textOf(body, memberOf(node, 'role')) === 'assistant')
}
