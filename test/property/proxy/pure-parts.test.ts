import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dialectNamed } from '../../../src/core/dialects/lookup.ts'
import { openai } from '../../../src/core/dialects/openai.ts'
import { createEventBoundary } from '../../../src/proxy/answer-head.ts'
import { answerHeaders, requestHeaders } from '../../../src/proxy/headers.ts'
import { pathAfter, upstreamPath, versionedPath } from '../../../src/proxy/target.ts'

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

  it('is forwarded as it is, or not at all, as with a fragment', () => {
    fc.assert(
      fc.property(latin1, text => {
        const path = pathAfter(`/api/${text}`, '/api')
        expect(path).toBe(`/${text}`)
        const forwarded = upstreamPath(base, `/${text}`)
        expect(forwarded).toBe(/^[\x21\x22\x24-\x7e\x80-\xff]*$/.test(text) ? `/${text}` : null)
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
    expect(pathAfter(target, '/api')).toBe(expected)
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

  it.each([
    ...[
      '/%252e%252e/x',
      '/%c0%ae%c0%ae/x',
      '/a%2f..%2f..',
      '/a%255c..',
      '/%25252e%2e/',
      '/%%32%65./',
    ],
    ...['/.%e0%80%ae/', '/%f0%80%80%ae./', '/%c0%ae%c0%ae%c0%afx', '/..%c1%9cx', '/%c0%2e%c0%6e/'],
    ...[
      '/%u002e%u002e/',
      '/..%00/x',
      '/.%0a./',
      '/..%20/',
      '/..%3b/',
      '/..;a=b/x',
      '/..%3fx',
      '/..%23',
    ],
    ...[
      '/%ef%bc%8e%ef%bc%8e/',
      '/\xc0\xae\xc0\xae/',
      `/%${'25'.repeat(40)}2e./`,
      '/%25%32%65%25%32%65/',
    ],
  ])('%s does not lead out of its path', path => {
    expect(upstreamPath(new URL('https://api.example/eu'), path)).toBeNull()
    expect(upstreamPath(base, path)).toBe(path)
  })

  it.each([
    ...[
      '/v1/messages',
      '/...',
      '/a..b/',
      '/.',
      '/%2e',
      '/..a',
      '/100%25',
      '/100%2525',
      '/a%2fb',
      '/%',
    ],
    ...[
      '/caf%c3%a9',
      '/%c0',
      '/a%20b',
      '/v1/files/a..b?x=/../',
      '/%f0%9f%92%a9',
      '/%e2%80%a6',
      '/%zz',
    ],
  ])('%s is a legal path', path => {
    expect(upstreamPath(new URL('https://api.example/eu'), path)).toBe(`/eu${path}`)
  })

  it.each([
    ['anthropic', '', '/messages', '/v1/messages'],
    ['anthropic', '', '/v1/messages?beta=true', '/v1/messages?beta=true'],
    ['anthropic', '', '/v1/v1/messages/count_tokens', '/v1/messages/count_tokens'],
    ['anthropic', '', '/messages/count_tokens?a=/v1/', '/v1/messages/count_tokens?a=/v1/'],
    ['anthropic', '/v1', '/messages', '/messages'],
    ['anthropic', '/v1', '/v1/messages', '/messages'],
    ['anthropic', '/v1', '/v1/v1/messages', '/messages'],
    ['anthropic', '/gateway', '/messages', '/v1/messages'],
    ['anthropic', '/gateway', '/v1/messages', '/v1/messages'],
    ['anthropic', '', '/messages-of-others', '/messages-of-others'],
    ['anthropic', '', '/api/messages', '/api/messages'],
    ['anthropic', '/v1', '/v1/models', '/models'],
    ['openai', '', '/chat/completions', '/v1/chat/completions'],
    ['openai', '', '/responses/compact', '/v1/responses/compact'],
    ['openai', '', '/v1/responses', '/v1/responses'],
    ['openai', '/api/paas/v4', '/v1/chat/completions', '/chat/completions'],
    ['openai', '/v1', '/chat/completions', '/chat/completions'],
    ['openai', '/v1beta/openai', '/chat/completions', '/chat/completions'],
    ['openai', '/backend-api/codex', '/responses', '/responses'],
  ] as const)('of %s behind %s: %s is named %s', (name, basePath, path, expected) => {
    const naming = { dialect: dialectNamed(name), basePath, pathsAsSent: false }
    expect(versionedPath(naming, path)).toBe(expected)
  })

  it('is left to an upstream that names it without a version', () => {
    const naming = { dialect: openai, basePath: '', pathsAsSent: true }
    expect(versionedPath(naming, '/chat/completions')).toBe('/chat/completions')
    expect(versionedPath(naming, '/v1/v1/responses')).toBe('/v1/responses')
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
        const options = {
          method: 'GET',
          keepExpect: false,
          keepUpgrade: false,
          keepExtensions: true,
        } as const
        const body = { kind: 'none' } as const
        const sent = requestHeaders(raw, { ...options, host: 'up', body })
        expect(sent).toEqual(['Host', 'up', ...lines.flat()])
        expect(answerHeaders(lines.flat(), {})).toEqual(lines.flat())
      }),
    )
  })
})
