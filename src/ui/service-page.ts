import { html } from 'hono/html'
import { figures, type Html, table } from './layout.ts'
import { bytes, count, percent, visible } from './show.ts'

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
  /** Keys; `null` if the reader may not see them. */
  readonly keys: readonly KeyRow[] | null
}

/** A key without anything by which it could be used. */
export interface KeyRow {
  readonly id: string
  readonly tenant: string
  readonly scopes: readonly string[]
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
      about: `busy, mean of ten seconds, of ${count(threads)} threads`,
    },
    {
      name: 'Queue',
      value: count(waiting),
      about: `jobs wait, ${count(waitMs)} ms by estimate; ${count(connections)} connections`,
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
<h2>Keys</h2>${keysOf(data.keys)}`
}

function keysOf(keys: readonly KeyRow[] | null): Html {
  if (keys === null) return html`<p class="none">Keys are shown to keys with the scope admin.</p>`
  return html`${table({
    caption: 'Keys of clients; the keys themselves are not stored',
    columns: [
      ...['Id', 'Tenant', 'Scopes', 'Note'].map(name => ({ name })),
      { name: 'Requests a second', isNumber: true },
    ],
    rows: keys.map(({ id, tenant, scopes, note, rate }) => [
      html`<code>${id}</code>`,
      tenant,
      scopes.join(', '),
      visible(note),
      rate === null ? 'no limit' : String(rate),
    ]),
    none: 'No keys are configured: every client that reaches the service may use it.',
  })}
<p>Add one with <code>haversack keys add --tenant NAME --scopes encode --file FILE</code>, and end one with
<code>haversack keys revoke ID --file FILE</code>. A running service follows within two seconds.</p>`
}
