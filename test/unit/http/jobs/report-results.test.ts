import { expect, test } from 'vitest'
import { reportResult, reportResults } from '../../../../src/http/jobs/report-results.ts'
import { rowWith } from '../../../support/result-rows.ts'

const row = JSON.stringify(rowWith())

test.each([
  ['a result', {}, ['metrics', 'book undefined']],
  ['an answer that was given before', { only: 'metrics' }, ['metrics']],
  ['a result that was only looked up', { only: 'telemetry' }, ['book telemetry']],
] as const)('%s is written down where it counts', (_, more, expected) => {
  const written: string[] = []
  reportResult({ op: 'encode', row, ...more }, { tenant: 't' }, {
    metrics: { report: (_report, counted) => void (counted && written.push('metrics')) },
    book: { result: ({ only }) => void written.push(`book ${only}`) },
  } as Parameters<typeof reportResult>[2])
  expect(written).toEqual(expected)
})

test('the rows of a job are added to arms at once', () => {
  const added: unknown[] = []
  const unit = { unit: 'u', isHeldOut: false, results: 1, tokens: 9, saved: 2, again: 0 }
  const rows = [rowWith(), { ...rowWith(), unit }]
  const reports = rows.map(each => ({ op: 'rewrite', row: JSON.stringify(each) }))
  reportResults({ reports: [...reports, { op: 'rewrite' }] }, { tenant: 't' }, {
    metrics: { report: () => {} },
    arms: { record: (tenant, all) => void added.push(tenant, all) },
  } as Parameters<typeof reportResults>[2])
  expect(added).toEqual(['t', rows])
})
