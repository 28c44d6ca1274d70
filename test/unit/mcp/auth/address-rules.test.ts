import { expect, it } from 'vitest'
import { mayName, type Nearness, nearnessOf } from '../../../../src/mcp/auth/address-rules.ts'

it.each([
  ['8.8.8.8', 'public'],
  ['2606:4700::1111', 'public'],
  ['10.1.2.3', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.1', 'public'],
  ['192.168.0.1', 'private'],
  ['100.64.0.1', 'private'],
  ['fd12::1', 'private'],
  ['64:ff9b::8.8.8.8', 'private'],
  ['64:ff9b::a9fe:a9fe', 'forbidden'],
  ['64:ff9b:1::169.254.169.254', 'forbidden'],
  ['64:ff9b::127.0.0.1', 'loopback'],
  ['2002:a9fe:a9fe::1', 'forbidden'],
  ['2002:7f00:1::', 'loopback'],
  ['::169.254.169.254', 'forbidden'],
  ['::a9fe:a9fe', 'forbidden'],
  ['::127.0.0.1', 'loopback'],
  ['::ffff:0:127.0.0.1', 'loopback'],
  ['::ffff:0:a9fe:a9fe', 'forbidden'],
  ['0:0:0:0:0:ffff:0a00:0001', 'private'],
  ['::ffff:8.8.8.8', 'public'],
  ['::8.8.8.8', 'public'],
  ['fd00:ec2::23', 'forbidden'],
  ['169.254.170.23', 'forbidden'],
  ['fe80::1%eth0', 'forbidden'],
  ['127.0.0.1', 'loopback'],
  ['127.8.9.1', 'loopback'],
  ['0.0.0.0', 'loopback'],
  ['::1', 'loopback'],
  ['::', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:10.0.0.1', 'private'],
  ['169.254.169.254', 'forbidden'],
  ['::ffff:169.254.169.254', 'forbidden'],
  ['fe80::1', 'forbidden'],
  ['fd00:ec2::254', 'forbidden'],
  ['100.100.100.200', 'forbidden'],
  ['168.63.129.16', 'forbidden'],
  ['224.0.0.1', 'forbidden'],
  ['255.255.255.255', 'forbidden'],
  ['ff02::1', 'forbidden'],
  ['no address', 'forbidden'],
] as const)('%s is %s', (address, nearness) => {
  expect(nearnessOf(address)).toBe(nearness)
})

it('lets no server name what is nearer than itself, and none a metadata service', () => {
  const all: Nearness[] = ['public', 'private', 'loopback', 'forbidden']
  const allowed = all.flatMap(from =>
    all.filter(to => mayName(from, to)).map(to => `${from} ${to}`),
  )
  expect(allowed).toEqual([
    'public public',
    'private public',
    'private private',
    'loopback public',
    'loopback private',
    'loopback loopback',
  ])
})
