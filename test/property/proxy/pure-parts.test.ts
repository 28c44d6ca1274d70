import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventBoundary } from '../../../src/proxy/event-boundary.ts'
import { answerHeaders, requestHeaders } from '../../../src/proxy/headers.ts'
import { pathBehind, upstreamPath } from '../../../src/proxy/target.ts'

const latin1 = fc
  .uint8Array({ minLength: 1, maxLength: 30 })
  .map(bytes => Buffer.from(bytes).toString('latin1'))

describe('the boundary between events', () => {
  it('is found however the stream is cut', () => {
    const pieces = fc.array(fc.constantFrom('data: a', '\n', '\r', '\r\n', '\r\n\r\n', ':'), {
      maxLength: 12,
    })
    fc.assert(
      fc.property(pieces, fc.array(fc.nat(20)), (parts, cuts) => {
        const stream = Buffer.from(parts.join(''))
        const at = [
          0,
          ...cuts.filter(cut => cut < stream.length).sort((a, b) => a - b),
          stream.length,
        ]
        const boundary = createEventBoundary()
        for (let n = 1; n < at.length; n++) boundary.follow(stream.subarray(at[n - 1], at[n]))
        // A stream that has not begun is at a boundary, as if behind a blank line.
        const expected = /(?:\n\n|\r\r|\r\n\r\n)$/.test(`\n\n${stream.toString()}`)
        expect(boundary.atBoundary).toBe(expected)
      }),
    )
  })
})

describe('a target', () => {
  const base = new URL('https://api.example')

  it('is forwarded as it is, or not at all', () => {
    fc.assert(
      fc.property(latin1, text => {
        const path = pathBehind(`/api/${text}`, '/api')
        expect(path).toBe(`/${text}`)
        const forwarded = upstreamPath(base, `/${text}`)
        expect(forwarded).toBe(/^[\x21-\x7e\x80-\xff]*$/.test(text) ? `/${text}` : null)
      }),
    )
  })

  it.each([
    ['http://evil/', null],
    ['*', null],
    ['//evil/', '//evil/'],
    ['/@evil/', '/@evil/'],
    ['', null],
  ])('%s goes to the configured host alone', (target, expected) => {
    expect(upstreamPath(base, target)).toBe(expected)
  })

  it.each([
    ['/api', '/'],
    ['/api?x=/', '/?x=/'],
    ['/apix', null],
    ['/%61pi/', null],
    ['http://us/api/', null],
  ])('%s is behind its prefix or not', (target, expected) => {
    expect(pathBehind(target, '/api')).toBe(expected)
  })

  it('never leaves the path of its upstream', () => {
    const segment = fc.constantFrom(
      'a',
      '..',
      '.',
      '%2e',
      '%2E.',
      '%2f',
      '%5C',
      '\\',
      '/',
      ';',
      '...',
    )
    const below = new URL('https://api.example/eu/')
    fc.assert(
      fc.property(fc.array(segment, { maxLength: 8 }), parts => {
        const forwarded = upstreamPath(below, `/${parts.join('')}`)
        if (forwarded === null) return
        const decoded = forwarded.replace(/%2f/gi, '/').replace(/%5c/gi, '\\')
        expect(new URL(decoded, below).pathname).toMatch(/^\/eu\//)
      }),
    )
  })
})

describe('headers', () => {
  it('that are of no hop come through in order, whatever they hold', () => {
    const name = fc
      .stringMatching(/^X-[A-Za-z0-9-]{1,12}$/)
      .filter(text => !/^x-haversack-/i.test(text))
    fc.assert(
      fc.property(fc.array(fc.tuple(name, latin1)), lines => {
        const raw = ['Host', 'us', ...lines.flat()]
        const options = { method: 'GET', keepExpect: false, keepUpgrade: false } as const
        const body = { kind: 'none' } as const
        const sent = requestHeaders(raw, { ...options, host: 'up', body })
        expect(sent).toEqual(['Host', 'up', ...lines.flat()])
        expect(answerHeaders(lines.flat(), {})).toEqual(lines.flat())
      }),
    )
  })
})
