import { html } from 'hono/html'
import type { ShowAnswer } from '../core/operations/show-result.ts'
import { card, type Html } from './layout.ts'
import { sides } from './result-page.ts'

/** What a page shows before anything came. */
export interface FirstSteps {
  /** Commands of agents on the service's machine; `null`: it may not be the reader's. */
  readonly agents: readonly string[] | null
  /** What the sample becomes; `null`: that cannot be found out now. */
  readonly sample: ShowAnswer | null
}

/** A result such as tools give, for readers who have none yet. */
export const SAMPLE = JSON.stringify(
  [
    { id: 101, title: 'Login fails on Safari', state: 'open', comments: 4 },
    { id: 102, title: 'Upgrade dependencies', state: 'closed', comments: 0 },
    { id: 103, title: 'Search is slow on large repos', state: 'open', comments: 11 },
    { id: 104, title: 'Typo in the installation guide', state: 'closed', comments: 2 },
  ],
  null,
  2,
)

export function emptyPage({ agents, sample }: FirstSteps): Html {
  const found = agents === null || agents.length === 0 ? '' : `Found here: ${agents.join(', ')}. `
  return html`<div class="two">${card(
    'steps',
    'Three steps',
    html`<ol class="steps">
<li><b>What would it have saved you?</b><code class="cmd">haversack discover</code>
<p>Reads your agents' logs on your machine. Nothing leaves it.</p></li>
<li><b>Start your agent behind it</b>
<code class="cmd">haversack run -- ${agents?.[0] ?? 'claude'}</code>
<p>${found}Your settings are not changed.
<code>haversack doctor</code> says what is missing.</p></li>
<li><b>Ask for something that reads files</b><p>“Find the slowest test and say why.”</p>
<p class="wait">waiting for the first result …</p></li></ol>`,
  )}
${card(
  'sample',
  'What it will look like',
  html`${
    sample === null
      ? html`<p class="none">The sample cannot be encoded now.</p>`
      : sides(SAMPLE, sample)
  }<p><a href="/ui/try">Try one of your own</a></p>`,
  html`<span class="chip">a sample</span>`,
)}</div>`
}
