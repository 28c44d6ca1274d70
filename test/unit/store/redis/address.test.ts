import { describe, expect, test } from 'vitest'
import { parseRedisUrl } from '../../../../src/core/base/redis-address.ts'

describe('the URL of a Redis', () => {
  test.each([
    ['redis://127.0.0.1', { kind: 'standalone', nodes: [{ host: '127.0.0.1', port: 6379 }] }],
    ['redis://h:6380/2', { nodes: [{ host: 'h', port: 6380 }], database: 2 }],
    ['rediss://h', { isTls: true }],
    ['redis://u:p%40s%2Fs@h', { username: 'u', password: 'p@s/s' }],
    ['redis://:p@h', { password: 'p' }],
    ['redis://u@h', { username: 'u' }],
    ['redis://u:a@b@h', { username: 'u', password: 'a@b' }],
    ['redis://[::1]:7000', { nodes: [{ host: '::1', port: 7000 }] }],
    [
      'rediss+sentinel://u:p@a,b:7/my%20name',
      {
        kind: 'sentinel',
        isTls: true,
        primaryName: 'my name',
        nodes: [
          { host: 'a', port: 26_379 },
          { host: 'b', port: 7 },
        ],
      },
    ],
    [
      'redis+cluster://a:1,b',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 1 },
          { host: 'b', port: 6379 },
        ],
      },
    ],
  ])('%s is read', (url, expected) => {
    expect(parseRedisUrl(url)).toMatchObject(expected)
  })

  test.each([
    ['', /begin with redis/],
    ['http://h', /begin with redis/],
    ['redis://', /names no host/],
    ['redis://h:99999', /names no host/],
    ['redis://h:port', /names no host/],
    ['redis://a,b', /several hosts/],
    ['redis+sentinel://a', /name of the primary/],
    ['redis+sentinel://a/%zz', /not percent-encoded/],
    ['redis://h/x', /no number/],
    ['redis://u:%zz@h', /not percent-encoded/],
    ['redis://secret:se,cret@', /names no host/],
  ])('%s is refused, and not quoted', (url, reason) => {
    const parsed = parseRedisUrl(url)
    const fault = 'fault' in parsed ? parsed.fault : ''
    expect(fault).toMatch(reason)
    expect(fault).not.toContain('secret')
  })
})
