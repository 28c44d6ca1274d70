import { readFileSync } from 'node:fs'
import type { IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ERRORS } from '../../../src/core/base/errors.ts'
import { createCatalogue } from '../../support/k8s/catalogue.ts'
import { faultsOfQuery, labelsOfResult } from '../../support/k8s/promql.ts'

const root = new URL('../../../', import.meta.url)
const source = readFileSync(new URL('k8s/components/monitoring/prometheusrule.yaml', root), 'utf8')
const rules = ((parse(source) as IPrometheusRule).spec?.groups ?? []).flatMap(
  group => group.rules ?? [],
)
const RUNBOOK = 'docs/guide/operations.md'
const headings = readFileSync(new URL(RUNBOOK, root), 'utf8').match(/(?<=^#+ ).*$/gm) ?? []
const catalogue = await createCatalogue()

it('there are alerts, each with a name of its own', () => {
  const names = rules.map(({ alert }) => alert)
  expect(names.length).toBeGreaterThan(10)
  expect(new Set(names).size).toBe(names.length)
})

it('the runbook has a section for no other alert', () => {
  const sections = headings.filter(heading => /^Haversack[A-Z]/.test(heading))
  expect(rules.map(({ alert }) => alert)).toEqual(expect.arrayContaining(sections))
})

describe.each(rules.map(rule => [rule.alert ?? '', rule] as const))('%s', (name, rule) => {
  const expr = String(rule.expr)
  const annotations = rule.annotations ?? {}

  it('asks for what there is', () => {
    expect(faultsOfQuery(expr, catalogue)).toEqual([])
    for (const [, codes = ''] of expr.matchAll(/code=~?"([^"]*)"/g)) {
      for (const code of codes.split('|')) expect(Object.keys(ERRORS)).toContain(code)
    }
  })

  it('looks at this service only', () => {
    const selectors = expr.matchAll(/\b(up|haversack_\w+)\b(\{[^}]*\})?/g)
    for (const [selector, , matchers = ''] of selectors) {
      expect(matchers, selector).toContain('job="haversack"')
    }
  })

  it('says what it means, how bad it is and what to do', () => {
    expect(name).toMatch(/^Haversack[A-Z]\w+$/)
    expect(['critical', 'warning']).toContain(rule.labels?.['severity'])
    expect(Object.keys(annotations).sort()).toEqual(['description', 'runbook', 'summary'])
    expect(annotations['summary']?.length).toBeGreaterThan(10)
    expect(annotations['description']).toMatch(/^[A-Z].*\.$/)
    expect(annotations['runbook']).toBe(`${RUNBOOK}#${name.toLowerCase()}`)
  })

  it('names only labels that its result has', () => {
    const labels = labelsOfResult(expr, catalogue)
    const texts = Object.values(annotations).join(' ')
    for (const [, label = ''] of texts.matchAll(/\$labels\.(\w+)/g)) {
      expect([...labels]).toContain(label)
    }
  })

  it('has a section in the runbook', () => {
    expect(headings).toContain(name)
  })
})
