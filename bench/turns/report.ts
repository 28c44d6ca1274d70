import type { RouteName } from '../../src/core/dialects/lookup.ts'
import type { PlayedConversation } from '../../test/support/turns/play-conversation.ts'
import type { Counts } from '../../test/support/turns/services.ts'
import { machine } from '../support/machine.ts'
import { markdownTable } from '../support/markdown-table.ts'

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
  const header = [
    'shape',
    'source',
    'conversations',
    'turns',
    'results',
    'prefix changes',
    'tokens',
    'sent',
    'saved',
  ]
  const rows = shapes.flatMap(({ route, conversations }) => {
    const bySource = Map.groupBy(conversations, ({ source }) => source)
    return [...bySource, ['all', conversations] as const].map(([source, some]) => {
      const of = (name: keyof ConversationCounts) => sum(some.map(({ counts }) => counts[name]))
      return [
        route,
        source,
        some.length,
        of('turns'),
        of('results'),
        of('changed'),
        of('tokensRaw'),
        of('tokensSent'),
        percent(of('tokensRaw'), of('tokensSent')),
      ]
    })
  })
  return markdownTable(header, rows)
}

function eventsTable(shapes: readonly ShapeReport[]): string {
  const header = [
    'shape',
    'SIGKILL',
    'SIGTERM',
    'calls made again',
    'arrived otherwise before',
    'rewritten',
    'decoded',
    'not alone',
    'changes counted',
    'unrecorded',
    'untouched',
    'seconds',
  ]
  const rows = shapes.map(({ route, seconds, restarts, services, conversations }) => {
    const of = (name: keyof ConversationCounts) => sum(conversations.map(c => c.counts[name]))
    return [
      route,
      restarts.SIGKILL,
      restarts.SIGTERM + 2,
      of('retried'),
      of('retriedOtherwise'),
      of('rewritten'),
      of('decoded'),
      of('bound'),
      services.haversack_proxy_prefix_changes_total,
      services.haversack_proxy_unrecorded_total,
      services.haversack_proxy_untouched_total,
      Math.round(seconds),
    ]
  })
  return markdownTable(header, rows)
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)

const percent = (before: number, after: number) => `${(100 * (1 - after / before)).toFixed(1)} %`
