import { html } from 'hono/html'
import { visible } from '../core/base/visible.ts'
import type {
  ConversationDetail,
  ConversationPage,
  ConversationRow,
  LedgerTurn,
} from '../ledger/figures.ts'
import { chart } from './chart.ts'
import { figures, type Html, table } from './layout.ts'
import { resultTable } from './result-table.ts'
import { count, ofWhole, percent, time } from './show.ts'

/** Conversations of a page. */
export const PAGE_ROWS = 50

/** @param page from 1 */
export function conversationsPage({ rows, total }: ConversationPage, page: number): Html {
  const pages = Math.max(1, Math.ceil(total / PAGE_ROWS))
  return html`${table({
    caption: 'Sessions, the latest first',
    columns: [
      { name: 'Name' },
      { name: 'Last (UTC)' },
      { name: 'Way' },
      { name: 'Model' },
      ...['Requests', 'Results', 'Tokens of results', 'Saved', 'Billed saving'].map(name => ({
        name,
        isNumber: true,
      })),
    ],
    rows: rows.map(row => [
      html`<a href="/ui/conversations/${row.id}">${sessionName(row)}</a>`,
      time(row.last_at),
      row.source,
      visible(row.model),
      count(row.turns),
      count(row.results),
      count(row.before),
      percent(row.saved, row.before),
      billedOf(row),
    ]),
    none: 'No session came yet. Results without one belong to none.',
  })}
<nav class="pages" aria-label="Pages of sessions">
${page > 1 ? html`<a href="/ui/conversations?page=${page - 1}" rel="prev">Later</a>` : ''}
<span>${count(total)} sessions, page ${page} of ${pages}</span>
${page < pages ? html`<a href="/ui/conversations?page=${page + 1}" rel="next">Earlier</a>` : ''}
</nav>`
}

/** A session by its project and agent; one of which nothing is known, by its id. */
function sessionName({ id, project, agent }: ConversationRow): Html {
  if (project === '' && agent === '') return html`<code>${id}</code>`
  return html`${visible(project || '(no repository)')}, ${visible(agent || '(unknown agent)')}`
}

function billedOf({ turns, billed, without }: ConversationRow): string {
  return turns === 0 ? '–' : percent(without - billed, without)
}

export function conversationPage({ conversation, turns, results }: ConversationDetail): Html {
  const { before, saved, billed, without } = conversation
  const untouched = turns.filter(turn => turn.untouched !== '')
  const changed = turns.filter(turn => turn.prefix_changed === 1)
  return html`<p>${sessionName(conversation)}: ${conversation.source}${
    conversation.model === '' ? '' : html`, ${visible(conversation.model)}`
  }, ${time(conversation.first_at)} to ${time(conversation.last_at)} UTC.</p>
${figures([
  {
    name: 'Results',
    value: percent(saved, before),
    about: ofWhole(saved, before, `tokens of ${count(conversation.results)} results, each once`),
  },
  {
    name: 'Billed saving',
    value: billedOf(conversation),
    about:
      conversation.turns === 0
        ? 'No request of it went through a proxy.'
        : ofWhole(
            without - billed,
            without,
            `uncached input tokens over ${count(conversation.turns)} requests`,
          ),
    ...(billed > without ? { tone: 'bad' as const } : {}),
  },
  {
    name: 'Prefix changes',
    value: count(changed.length),
    about: ofWhole(untouched.length, turns.length, 'listed requests were forwarded unchanged'),
    ...(changed.length > 0 ? { tone: 'bad' as const } : {}),
  },
])}
${
  turns.length === 0
    ? ''
    : chart({
        title: 'Requests in their order, as the provider counted them',
        unit: 'tokens',
        bars: turns.map((turn, index) => ({ label: labelOf(turn, index), parts: partsOf(turn) })),
      })
}
${resultTable('Its results in their order', results)}`
}

function labelOf({ at, untouched }: LedgerTurn, index: number): string {
  return `request ${index + 1} at ${time(at)}${untouched === '' ? '' : `, unchanged: ${untouched}`}`
}

function partsOf({ cache_read, cache_write, uncached, output, removed }: LedgerTurn) {
  return [
    { name: 'cache read', kind: 'read', value: cache_read },
    { name: 'cache written', kind: 'written', value: cache_write },
    { name: 'uncached', kind: 'uncached', value: uncached },
    { name: 'output', kind: 'output', value: output },
    { name: 'removed', kind: 'removed', value: Math.min(0, -removed) },
  ]
}
