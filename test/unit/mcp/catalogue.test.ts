import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Catalogue, publicEntry, publicName } from '../../../src/mcp/catalogue/catalogue.ts'
import { anyText } from '../../support/any-text.ts'

const entries = (...names: string[]) =>
  names.map(key => ({ key, raw: Buffer.from(JSON.stringify({ name: key, n: 1 })) }))

describe('the name of a tool', () => {
  it.each([
    [null, 'read_file', 'read_file'],
    ['files', 'read_file', 'files__read_file'],
    ['files', 'a'.repeat(37), `files__${'a'.repeat(37)}`],
  ])('%s, %s', (server, name, expected) => {
    expect(publicName(server, name)).toBe(expected)
  })

  it('is one that every client takes, and another for another tool', () => {
    const name = fc.oneof(fc.string(), anyText(), fc.constant('__proto__'))
    fc.assert(
      fc.property(name, name, (a, b) => {
        const [first, second] = [publicName('s', a), publicName('s', b)]
        expect(first).toMatch(/^[A-Za-z0-9_-]{1,44}$/)
        expect(first === second).toBe(a === b)
      }),
    )
  })
})

describe('the catalogue', () => {
  it('is sorted by public names, whichever server answers first', () => {
    const [one, other] = [new Catalogue(['b', 'a']), new Catalogue(['b', 'a'])]
    one.set('a', 'tools', entries('y', 'x'))
    one.set('b', 'tools', entries('z'))
    other.set('b', 'tools', entries('z'))
    other.set('a', 'tools', entries('y', 'x'))
    const names = (catalogue: Catalogue) => catalogue.all('tools').map(each => each.publicKey)
    expect(names(one)).toEqual(['a__x', 'a__y', 'b__z'])
    expect(names(other)).toEqual(names(one))
  })

  it('tells a list that differs from one that does not', () => {
    const catalogue = new Catalogue(['a'])
    expect(catalogue.set('a', 'tools', entries('x'))).toBe(true)
    expect(catalogue.set('a', 'tools', entries('x'))).toBe(false)
    expect(catalogue.set('a', 'tools', entries('x', 'y'))).toBe(true)
  })

  it('gives a resource of two servers to the first in the configuration', () => {
    const catalogue = new Catalogue(['b', 'a'])
    const resource = [{ key: 'file:///x', raw: Buffer.from('{"uri":"file:///x"}') }]
    catalogue.set('a', 'resources', resource)
    catalogue.set('b', 'resources', resource)
    expect(catalogue.find('resources', 'file:///x')?.server).toBe('b')
    expect(catalogue.all('resources')).toHaveLength(1)
  })

  it('changes a definition in its name alone', () => {
    const raw = Buffer.from('{"x":1.0, "name" : "t","outputSchema":{"a":[1]} ,"z":"\\u0061"}')
    const catalogue = new Catalogue(['a', 'b'])
    catalogue.set('a', 'tools', [{ key: 't', raw }])
    const entry = catalogue.find('tools', 'a__t')!
    const shown = (dropsOutputSchema: boolean) =>
      publicEntry('tools', entry, { dropsOutputSchema }).toString()
    expect(shown(false)).toBe(raw.toString().replace('"t"', '"a__t"'))
    expect(JSON.parse(shown(true))).toEqual({ x: 1, name: 'a__t', z: 'a' })
  })
})
