import type { EncodeAnswer } from '../../contract/encode.ts'
import type { ToolResultText } from '../../dialects/bodies/tool-result-text.ts'
import type { HintFamily } from '../../hints/hint.ts'
import { CHAIN_CALLS, type SentHints } from '../../hints/policy.ts'
import { isSearch } from '../../pipeline/is-search.ts'
import { detachedLayer, type OpenLayer } from '../../pipeline/session-layer.ts'
import { labelOf } from '../../pipeline/wrapped-format.ts'
import { endpointName } from '../../telemetry/endpoint-class.ts'

/** What later results may need to know of how a result was sent. */
export interface SentNote {
  /** Families of the hints in it, each once; absent: none. */
  readonly hints?: readonly HintFamily[]
  /** The format that it is in, without the version; absent: not known. */
  readonly format?: string
}

/** The call of a result. */
type Called = Pick<ToolResultText, 'tool' | 'args'>

/**
 * The hints and formats of a conversation's results in their order. They follow from what was sent
 * for each, so a later turn finds the same.
 */
export interface SentNotes {
  add(result: Called, note: SentNote): void
  /** The layer with what the conversation was sent up to here. */
  layer(result: Called, open: OpenLayer | undefined): OpenLayer
}

export function createSentNotes(): SentNotes {
  const counts = new Map<HintFamily, number>()
  /** The number of the last result with hints of a family. */
  const last = new Map<HintFamily, number>()
  let passed = 0
  const sent: SentHints = {
    sentInSession: family => counts.get(family) ?? 0,
    resultsSince: family => passed + 1 - (last.get(family) ?? -Infinity),
  }
  /** Results whose endpoint is not needed yet: to find a class takes longer than the rest. */
  const waiting: { readonly result: Called; readonly format: string }[] = []
  const formats = new Map<string, string>()
  /** The last calls, as many as a search chain looks at before the answered one. */
  const recent: Called[] = []

  function lastFormatOf(result: Called): string | undefined {
    for (const each of waiting.splice(0)) formats.set(nameOf(each.result), each.format)
    return formats.get(nameOf(result))
  }

  function searchesBefore(): number {
    return recent.filter(result => isSearch(result.tool, () => result.args())).length
  }

  return {
    add(result, { hints = [], format }) {
      passed++
      recent.push(result)
      if (recent.length === CHAIN_CALLS) recent.shift()
      for (const family of hints) {
        counts.set(family, (counts.get(family) ?? 0) + 1)
        last.set(family, passed)
      }
      if (format !== undefined) waiting.push({ result, format })
    },
    layer: (result, open) => (op, input, profile, context) => {
      const layer = open?.(op, input, profile, context) ?? detachedLayer(0, sent)
      return { ...layer, ...sent, lastFormat: () => lastFormatOf(result), searchesBefore }
    },
  }
}

/** What an answer leaves for later results. A reference is in no format of its own. */
export function noteOf({ layer, format, hints }: EncodeAnswer): SentNote {
  const families = [...new Set(hints.map(({ family }) => family as HintFamily))]
  return {
    ...(families.length > 0 && { hints: families }),
    ...(layer !== 'L0' && { format: labelOf(format) }),
  }
}

function nameOf(result: Called): string {
  return endpointName(result.tool, result.args())
}
