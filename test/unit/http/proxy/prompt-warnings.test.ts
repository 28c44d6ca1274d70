import { expect, it } from 'vitest'
import { createPromptWarnings } from '../../../../src/http/proxy/prompt-warnings.ts'

const change = (kind: string) => ({ kind, place: 'system', at: 7, scope: 'key' })

it('warns once of each kind for a tenant, without a value', () => {
  const logged: unknown[] = []
  const warn = (...line: unknown[]) => void logged.push(line)
  const warnings = createPromptWarnings({ warn } as never)
  for (const tenant of ['one', 'two', 'one']) {
    for (const kind of ['uuid', 'date', 'uuid']) warnings.changed(tenant, change(kind))
  }
  const text = 'a prompt changes before its conversation, so its cache is lost'
  expect(logged).toEqual(
    ['one', 'two'].flatMap(tenant =>
      ['uuid', 'date'].map(kind => [{ tenant, ...change(kind) }, text]),
    ),
  )
})

it('remembers a bounded number of tenants', () => {
  let lines = 0
  const warnings = createPromptWarnings({ warn: () => void lines++ } as never)
  for (let i = 0; i < 10_010; i++) warnings.changed(`tenant ${i}`, change('uuid'))
  warnings.changed('tenant 1', change('date'))
  expect(lines).toBe(10_001)
})
