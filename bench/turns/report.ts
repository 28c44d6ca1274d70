import { percent } from '../../src/console/table.ts'
import type { RouteName } from '../../src/core/dialects/lookup.ts'
import type { PlayedConversation } from '../../test/support/turns/play-conversation.ts'
import type { Counts } from '../../test/support/turns/services.ts'
import { machine } from '../support/machine.ts'
import { tableOf } from '../support/markdown-table.ts'

type ConversationCounts = PlayedConversation['counts']

/** What came of all conversations in one shape of requests. */
export interface ShapeReport {
  readonly route: RouteName
  readonly seconds: number
  readonly restarts: Readonly<Record<'SIGTERM' | 'SIGKILL', number>>
  /** What the services counted. */
  readonly services: Counts
  readonly conversations: readonly {
    readonly source: string
    readonly counts: ConversationCounts
  }[]
}

/** Two tables: prefixes and tokens by source, and what happened on the way. */
export function turnsReport(
  shapes: readonly ShapeReport[],
  { mostTurns, sample }: { readonly mostTurns: number; readonly sample: number },
): string {
  const played = sample === 1 ? 'every conversation' : `each ${sample}th conversation`
  return [
    `\`${JSON.stringify(machine())}\`; ${played}, at most ${mostTurns} turns each.`,
    sourcesTable(shapes),
    'What happened on the way:',
    eventsTable(shapes),
  ].join('\n\n')
}

function sourcesTable(shapes: readonly ShapeReport[]): string {
  const rows = shapes.flatMap(({ route, conversations }) => {
    const bySource = Map.groupBy(conversations, ({ source }) => source)
    return [...bySource, ['all', conversations] as const].map(([source, some]) => {
      const of = (name: keyof ConversationCounts) => sum(some.map(({ counts }) => counts[name]))
      return {
        ...{ shape: route, source, conversations: some.length, turns: of('turns') },
        ...{ results: of('results'), 'prefix changes': of('changed') },
        ...{ tokens: of('tokensRaw'), sent: of('tokensSent') },
        saved: percent(of('tokensRaw') - of('tokensSent'), of('tokensRaw')),
      }
    })
  })
  return tableOf(rows)
}

function eventsTable(shapes: readonly ShapeReport[]): string {
  const rows = shapes.map(({ route, seconds, restarts, services, conversations }) => {
    const of = (name: keyof ConversationCounts) => sum(conversations.map(c => c.counts[name]))
    return {
      ...{ shape: route, SIGKILL: restarts.SIGKILL, SIGTERM: restarts.SIGTERM + 2 },
      ...{ 'calls made again': of('retried'), 'arrived otherwise before': of('retriedOtherwise') },
      ...{ rewritten: of('rewritten'), decoded: of('decoded'), 'not alone': of('bound') },
      'changes counted': services.haversack_proxy_prefix_changes_total,
      unrecorded: services.haversack_proxy_unrecorded_total,
      untouched: services.haversack_proxy_untouched_total,
      seconds: Math.round(seconds),
    }
  })
  return tableOf(rows)
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
