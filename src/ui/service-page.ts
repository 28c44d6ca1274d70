import { html } from 'hono/html'
import { visible } from '../core/base/visible.ts'
import { figures, type Html, table } from './layout.ts'
import { plural } from './result-rows.ts'
import { bytes, count, percent } from './show.ts'

export interface ServiceData {
  readonly version: string
  readonly state: string
  readonly store: string
  readonly threads: number
  readonly utilization: number
  readonly waiting: number
  readonly waitMs: number
  readonly connections: number
  /** `null` if the store does not answer. */
  readonly kept: { readonly bytes: number; readonly most: number } | null
  readonly upstreams: readonly { readonly path: string; readonly host: string }[]
  /** `null` if the reader may not see them. */
  readonly keys: KeyList | null
  /** A key that was just added; `null`: none was. */
  readonly fresh: string | null
}

export interface KeyList {
  readonly keys: readonly KeyRow[]
  /** Scopes that a new key may have; `null` if the keys cannot be changed here. */
  readonly mayGive: readonly string[] | null
}

/** A key without anything by which it could be used. */
interface KeyRow {
  readonly id: string
  readonly scopes: readonly string[]
  /** Requests a second; `null`: no limit. */
  readonly rate: number | null
  readonly note: string
}

export function servicePage(data: ServiceData): Html {
  const { version, state, store, threads, utilization, waiting, waitMs, connections, kept } = data
  return html`${figures([
    { name: 'State', value: state, about: `store ${store}, version ${version}` },
    {
      name: 'Threads',
      value: percent(utilization, 1),
      about: `busy, mean of ten seconds, of ${plural(threads, 'thread')}`,
    },
    {
      name: 'Queue',
      value: count(waiting),
      about: `jobs wait, ${count(waitMs)} ms by estimate; ${plural(connections, 'connection')}`,
    },
    {
      name: 'Store',
      value: kept === null ? '–' : bytes(kept.bytes),
      about:
        kept === null
          ? 'The store does not answer.'
          : `originals and records of all tenants, of at most ${bytes(kept.most)}`,
    },
  ])}
<h2>Upstreams</h2>
${table({
  caption: 'Where requests are forwarded to',
  columns: [{ name: 'Path' }, { name: 'Host' }],
  rows: data.upstreams.map(({ path, host }) => [html`<code>${path}</code>`, host]),
  none: 'No upstream is configured: HAVERSACK_ANTHROPIC_URL, HAVERSACK_OPENAI_URL.',
})}
<h2>Keys</h2>${data.keys === null ? noKeys() : keysOf(data.keys, data.fresh)}`
}

function noKeys(): Html {
  return html`<p class="none">Keys are shown to keys with the scope admin.</p>`
}

function keysOf({ keys, mayGive }: KeyList, fresh: string | null): Html {
  return html`${
    fresh === null
      ? ''
      : html`<p class="good" role="status">The new key, which cannot be shown again:
<code>${fresh}</code></p>`
  }
${table({
  caption: 'Keys of this tenant; the keys themselves are not stored',
  columns: [
    ...['Id', 'Scopes', 'Note'].map(name => ({ name })),
    { name: 'Requests a second', isNumber: true },
    { name: 'Revoke' },
  ],
  rows: keys.map(({ id, scopes, note, rate }) => [
    html`<code>${id}</code>`,
    scopes.join(', '),
    visible(note),
    rate === null ? 'no limit' : String(rate),
    mayGive === null ? html`<code>haversack keys revoke ${id}</code>` : revokeForm(id),
  ]),
  none: 'No keys are configured: every client that reaches the service may use it.',
})}
${mayGive === null ? byCommand() : addForm(mayGive)}`
}

function revokeForm(id: string): Html {
  return html`<details><summary>Revoke ${id}</summary>
<form method="post" action="/ui/keys/revoke"><input type="hidden" name="id" value="${id}">
<p>Clients with this key are refused at once.</p>
<button class="quiet">Yes, revoke ${id}</button></form></details>`
}

function addForm(scopes: readonly string[]): Html {
  return html`<form method="post" action="/ui/keys" class="filter">
<fieldset><legend>Add a key</legend>${scopes.map(
    scope =>
      html`<label class="check">
<input type="checkbox" name="scope" value="${scope}"> ${scope}</label>`,
  )}</fieldset>
<label>Note <input name="note" maxlength="200"></label><button>Add</button></form>`
}

function byCommand(): Html {
  return html`<p>The service cannot write a keys file. Add a key with
<code>haversack keys add --tenant NAME --scopes encode --file FILE</code>. A running service follows
within two seconds.</p>`
}
