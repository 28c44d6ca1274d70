import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createAccess } from '../../../../src/access/access.ts'
import type { AppDeps } from '../../../../src/http/context.ts'
import { testApp } from '../../../support/app.ts'
import { keyFor } from '../../../support/keys.ts'
import { ownLedger } from '../../../support/ledger/own-ledger.ts'
import { resultOf, turnOf } from '../../../support/ledger/rows.ts'
import { IDLE_SERVICE } from '../../../support/ledger/ui-source.ts'
import { runs } from '../../../support/runs.ts'

const TENANTS = ['red', 'green', 'blue'] as const
const RESULTS = 12

/** A name that only one tenant has. */
const markOf = (tenant: string, at: number) => `mark-${tenant}-${at}`
const sessionOf = (tenant: string, at: number) =>
  Buffer.from(`${tenant}${at}`.padEnd(8, '.')).toString('hex').slice(0, 16)

function start() {
  const { ledger } = ownLedger({ textKeys: [] })
  const keys = TENANTS.map(tenant => keyFor(tenant, { scopes: ['ui', 'retrieve', 'admin'] }))
  const fetched: { tenant: string; ref: string }[] = []
  const { app } = testApp({
    ledger,
    ui: IDLE_SERVICE,
    access: createAccess(
      keys.map(({ record }) => record),
      () => 0,
    ),
    originals: {
      fetch: async (reference: { tenant: string; ref: string }) => {
        fetched.push(reference)
        return { body: Buffer.from('text'), media_type: 'text/plain' }
      },
    } as unknown as AppDeps['originals'],
  })
  for (let at = 0; at < RESULTS; at++) {
    for (const tenant of TENANTS) {
      const session = sessionOf(tenant, at % 3)
      const original = Buffer.from(markOf(tenant, at)).toString('hex').padEnd(64, '0')
      const row = { tool: markOf(tenant, at), session, original, omitted: 3 }
      const text = { before: `${markOf(tenant, at)} text`, after: 'sent', format: 'passthrough' }
      // Of some texts both sides are kept.
      ledger.result(resultOf(tenant, row, at % 2 === 0 ? { texts: text } : {}))
      ledger.turn(turnOf({ tenant, conversation: session, model: markOf(tenant, at) }))
      ledger.fetched({ tenant, original: original.slice(0, 24), at: Date.now(), bytes: 7 })
    }
  }
  async function enter(key: string): Promise<string> {
    const answer = await app.request('/ui/login', {
      method: 'POST',
      headers: { host: 'haversack.internal', origin: 'http://haversack.internal' },
      body: new URLSearchParams({ key }).toString(),
    })
    return answer.headers.get('set-cookie')!.split(';')[0]!
  }
  return { app, keys, enter, fetched }
}

const number = fc.integer({ min: 0, max: 3 * RESULTS + 3 })
const path = fc.oneof(
  fc.constantFrom('/ui', '/ui?window=7d', '/ui/tools', '/ui/conversations', '/ui/service'),
  number.map(id => `/ui/results/${id}`),
  fc.tuple(fc.constantFrom(...TENANTS), number).map(([tenant, at]) => {
    return `/ui/conversations/${sessionOf(tenant, at % 4)}`
  }),
  fc.constantFrom(...TENANTS).map(tenant => `/ui/tools?tool=mark-${tenant}`),
)

it('no page shows anything of another tenant, nor that there is such a thing', async () => {
  const { app, keys, enter, fetched } = start()
  const cookies = await Promise.all(keys.map(({ key }) => enter(key)))
  const notFound = new Map<string, Set<string>>()
  await fc.assert(
    fc.asyncProperty(fc.nat(TENANTS.length - 1), path, async (reader, asked) => {
      const tenant = TENANTS[reader]!
      const answer = await app.request(asked, { headers: { cookie: cookies[reader]! } })
      const text = await answer.text()
      // What the URL says itself is not the ledger's.
      const said = text.replaceAll(/value="mark-\w*"|tool=mark-\w*/g, '')
      for (const other of TENANTS) {
        if (other === tenant) continue
        expect(said).not.toContain(`mark-${other}`)
        for (let at = 0; at < 3; at++) expect(text).not.toContain(sessionOf(other, at))
        expect(text).not.toContain(keys[TENANTS.indexOf(other)]!.record.id)
      }
      expect(fetched.every(({ ref, tenant: whose }) => ref.startsWith(refOf(whose)))).toBe(true)
      if (answer.status !== 404) return
      const kind = asked.split('/')[2]!
      notFound.set(kind, (notFound.get(kind) ?? new Set()).add(text))
      // One text for what another tenant has and for what nobody has.
      expect(notFound.get(kind)!.size).toBeLessThanOrEqual(TENANTS.length)
    }),
    { numRuns: runs(400) },
  )
})

function refOf(tenant: string): string {
  return Buffer.from(`mark-${tenant}-`).toString('hex')
}
