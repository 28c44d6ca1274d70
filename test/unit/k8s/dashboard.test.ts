import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../../support/k8s/catalogue.ts'
import { faultsOfQuery, labelsOfResult } from '../../support/k8s/promql.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly datasource?: { readonly uid: string }
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

const file = new URL('../../../k8s/components/monitoring/dashboard.json', import.meta.url)
const dashboard = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: string }[]
  }
  readonly panels: readonly Panel[]
}
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const catalogue = await createCatalogue()

/** A query with Grafana's variables filled in. */
const filled = (expr: string) => expr.replaceAll('$__rate_interval', '5m')

it('has panels with ids and places of their own', () => {
  expect(panels.length).toBeGreaterThan(15)
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  const taken = new Set<string>()
  for (const { title, gridPos } of dashboard.panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect(taken.has(`${x} ${y}`), title).toBe(false)
        taken.add(`${x} ${y}`)
      }
    }
  }
})

it('uses only variables that it has', () => {
  const known = dashboard.templating.list.map(({ name }) => name)
  const used = JSON.stringify(dashboard.panels).matchAll(/\$(?!__)(\w+)/g)
  expect(new Set([...used].map(([, name]) => name))).toEqual(new Set(known))
  for (const { query } of dashboard.templating.list) {
    const [, metric] = /^label_values\((\w+), \w+\)$/.exec(query) ?? []
    if (metric !== undefined) expect([...catalogue.keys()]).toContain(metric)
  }
})

it('knows the proxies in its first row', () => {
  const first = panels.filter(({ gridPos }) => gridPos.y === panels[0]?.gridPos.y)
  const asked = first.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  const ofRoutes = asked.filter(expr => expr.includes('route=~'))
  expect(ofRoutes.length).toBeGreaterThan(1)
  for (const expr of ofRoutes) {
    for (const [, routes = ''] of expr.matchAll(/route=~"([^"]*)"/g)) {
      const missed = ['/v1/encode', '/anthropic/*', '/openai/*', '/up/own/*'].filter(
        route => !new RegExp(`^(?:${routes})$`).test(route),
      )
      expect(missed).toEqual([])
    }
  }
})

describe.each(panels.map(panel => [panel.title, panel] as const))('%s', (_, panel) => {
  const targets = panel.targets ?? []

  it('asks for what there is, in the namespace that was chosen', () => {
    expect(targets.length).toBeGreaterThan(0)
    for (const { expr } of targets) {
      expect(faultsOfQuery(filled(expr), catalogue)).toEqual([])
      for (const [selector] of expr.matchAll(/\{[^}]*\}/g)) {
        expect(selector).toMatch(/^\{job="haversack",namespace="\$namespace"[,}]/)
      }
    }
  })

  it('names only labels that its result has', () => {
    for (const { expr, legendFormat } of targets) {
      const labels = labelsOfResult(filled(expr), catalogue)
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        expect([...labels]).toContain(label)
      }
    }
  })
})

/** Metrics that need no panel, and why. */
const WITHOUT_PANEL: Readonly<Record<string, string>> = {
  haversack_draining: 'lasts for seconds',
  haversack_store_available: 'has an alert',
  haversack_store_salvaging: 'lasts for minutes, and /readyz says it',
  haversack_store_events_total: 'for a look into the store, with its own page',
  haversack_prefetch_wasted_bytes_total: 'for a study of calls ahead: docs/guide/planning.md',
  haversack_prefetch_saved_seconds: 'for a study of calls ahead: docs/guide/planning.md',
  haversack_prefetch_declines_total: 'for a study of calls ahead: docs/guide/planning.md',
  haversack_prefetch_predictions_total: 'for a study of calls ahead: docs/guide/planning.md',
  haversack_offers_total: 'for a study of calls ahead: docs/guide/planning.md',
}

it('shows every metric of ours, unless there is a reason', () => {
  const shown = JSON.stringify(panels)
  const ours = [...catalogue.keys()].filter(
    name => name.startsWith('haversack_') && !/^haversack_(?:process|nodejs)_/.test(name),
  )
  const isShown = (name: string) => new RegExp(`\\b${name}(?:_sum|_count|_bucket)?\\{`).test(shown)
  const families = ours.map(name => name.replace(/_(?:sum|count|bucket)$/, ''))
  const missing = new Set(families.filter(name => !isShown(name)))
  expect([...missing].sort()).toEqual(Object.keys(WITHOUT_PANEL).sort())
})
