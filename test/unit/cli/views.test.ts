import { describe, expect, it } from 'vitest'
import { measureViews, quotesOf } from '../../../src/cli/views/measure-views.ts'
import { builtInViews, readViewFile } from '../../../src/config/views.ts'
import { DEFAULT_PIPELINE } from '../../../src/core/pipeline/profile/default-pipeline.ts'
import { localContext } from '../../support/local-context.ts'

const file = builtInViews().find(({ name }) => name === 'github')!.file
const pipeline = { ...DEFAULT_PIPELINE, knownViews: readViewFile(file) }
const context = { ...localContext(), keepsOriginals: true, pipeline }

const issues = Array.from({ length: 12 }, (_, at) => ({
  id: 9000 + at,
  node_id: `MDU6SXNzdWU${at * 7919}`,
  title: `Oar ${at} of a boat on the lake is shorter than the other one`,
  labels_url: `https://api.github.com/repos/lake/boats/issues/${at}/labels`,
  html_url: `https://github.com/lake/boats/issues/${at}`,
  user: {
    login: `rower${at}`,
    node_id: `MDQ6${at}`,
    followers_url: `https://api.github.com/${at}`,
  },
}))
const listed = { session: 's', tool: 'list_issues', text: JSON.stringify(issues) }
const later = (session: string, args: unknown) => ({ session, tool: 'get', args, text: 'x' })

describe('the figures of a view', () => {
  it('count what it saves and names what goes', () => {
    const figures = measureViews([listed], context).get('github')!
    expect(figures).toMatchObject({ results: 1, inSessions: 1, neededLater: 0 })
    expect(figures.compact).toBeLessThan(figures.lossless / 1.5)
    expect(figures.standard).toBeLessThanOrEqual(figures.lossless)
    expect(figures.goes.get('html_url')).toBe(12)
  })

  it.each<[string, Parameters<typeof later>, number]>([
    ['quotes a hidden value', ['s', { url: issues[3]!.html_url }], 1],
    ['quotes it inside a command', ['s', { command: `curl "${issues[3]!.html_url}" | jq` }], 1],
    ['quotes a value that is shown', ['s', { login: 'rower3' }], 0],
    ['is in another session', ['t', { url: issues[3]!.html_url }], 0],
  ])('count a later call that %s: %s', (_, [session, args], needed) => {
    const results = [listed, later(session, args), later(session, args)]
    expect(measureViews(results, context).get('github')!.neededLater).toBe(needed)
  })

  it('are not of errors', () => {
    expect(measureViews([{ ...listed, is_error: true }], context).size).toBe(0)
  })
})

it('quotes are texts, their words and numbers', () => {
  const quotes = quotesOf({ a: ['see lake/boats, please'], n: 123_456, short: 'ab' })
  expect([...quotes].sort()).toEqual(['123456', 'lake/boats', 'please', 'see lake/boats, please'])
})
