import { expect, it } from 'vitest'
import { encodeContent } from '../../../../src/core/pipeline/encode-content.ts'
import { createPseudonyms, NO_SESSION } from '../../../../src/core/telemetry/pseudonyms.ts'
import { factsOf, keptRow, resultRow } from '../../../../src/core/telemetry/result-row.ts'
import { localContext } from '../../../support/local-context.ts'
import { rowWith } from '../../../support/result-rows.ts'

function rowOf(call: { tool?: string; session?: string; args?: object }) {
  const content = 'some text'
  const { answer } = encodeContent({ content }, localContext())
  const source = { call, content, identity: undefined, shape: { shape: 'prose' } }
  const row = keptRow(resultRow(source as never, answer, []))
  return { text: JSON.stringify(row), row }
}

it('has neither the name of a session nor an argument', () => {
  const { text, row } = rowOf({ tool: 'Read', session: 's3cret', args: { path: '/home/s3cret' } })
  expect(text).not.toContain('s3cret')
  const command = 'deploy --token s3cret s3cret.sh'
  expect(rowOf({ tool: 'Bash', args: { command } }).text).not.toContain('s3cret')
  expect(row.session).toMatch(/^[0-9a-f]{16}$/)
  expect(rowOf({ session: 's3cret' }).row.session).toBe(row.session)
  expect(rowOf({ session: 'other' }).row.session).not.toBe(row.session)
})

it('has names of tools that fit a column, whatever they are', () => {
  const { row } = rowOf({ tool: `\ud800${'x'.repeat(10_000)}` })
  expect(row.tool?.length).toBeLessThan(1_000)
  expect(row.tool?.isWellFormed()).toBe(true)
})

it('tells telemetry no name, id or path as it is', () => {
  const call = {
    tool: 'mcp__s3cret__find',
    session: 's3cret',
    id: 's3cret',
    file: '/s3cret',
  }
  const conversation = { kind: 'opening', name: 's3cret' } as const
  const pseudonyms = createPseudonyms(new Uint8Array(32), 't')
  for (const row of [rowWith({ call }), rowWith({ call: { tool: 's3cret' }, conversation })]) {
    const facts = factsOf(row, pseudonyms)
    expect(JSON.stringify(facts)).not.toContain('s3cret')
    expect(facts.session_hash).not.toBe(NO_SESSION)
  }
})
