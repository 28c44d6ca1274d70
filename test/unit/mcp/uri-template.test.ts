import { describe, expect, it } from 'vitest'
import { matchesTemplate } from '../../../src/mcp/catalogue/uri-template.ts'

describe('a template', () => {
  it.each([
    ['file:///{path}', 'file:///a.txt', true],
    ['file:///{path}', 'file:///a/b.txt', false],
    ['file:///{+path}', 'file:///a/b.txt', true],
    ['{scheme}://x/{id}', 'test://x/7', true],
    ['{scheme}://x/{id}', 'test://y/7', false],
    ['{+all}', 'test://y/7', false],
    ['{a}{b}', 'test', false],
    ['test://{id}/data', 'test://7/data', true],
    ['test://{id}/data', 'test://7/other', false],
    ['test://list{?page,size}', 'test://list', true],
    ['test://list{?page,size}', 'test://list?page=1&size=2', true],
    ['test://list{?page}', 'test://lists', false],
    ['test://a{/rest*}', 'test://a/b/c', true],
    ['test://a{.ext}', 'test://a.txt', true],
    ['test://plain', 'test://plain', true],
    ['test://a/{x}/b/{y}', 'test://a/b/b/b', true],
    ['test://{a}-{b}-{c}', 'test://1-2-3-4', true],
  ])('%s and %s: %s', (template, uri, expected) => {
    expect(matchesTemplate(template, uri)).toBe(expected)
  })

  it('that is hostile takes no time', () => {
    const started = performance.now()
    expect(matchesTemplate(`${'{+a}x'.repeat(31)}y`, 'x'.repeat(8000))).toBe(false)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})
