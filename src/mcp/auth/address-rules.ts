import { BlockList, isIP } from 'node:net'

/**
 * How near to this machine an address is. `forbidden`: what answers with credentials of the machine
 * itself (metadata services of clouds), and what is no address of one host.
 */
export type Nearness = 'public' | 'private' | 'loopback' | 'forbidden'

const FORBIDDEN = blockList([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 3],
  ['ff00::', 8],
])

const LOOPBACK = blockList([
  ['127.0.0.0', 8],
  ['0.0.0.0', 8],
  ['::', 127],
])

const PRIVATE = blockList([
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['192.0.0.0', 24],
  ['198.18.0.0', 15],
  ['fc00::', 7],
  ['fec0::', 10],
  // They hold an address of IPv4, which may be any.
  ['64:ff9b::', 32],
  ['2002::', 16],
  ['2001::', 32],
])

/** @param address of IPv4 or IPv6, also of IPv4 within IPv6 */
export function nearnessOf(address: string): Nearness {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  if (isIP(address) === 0 || FORBIDDEN.check(address, family)) return 'forbidden'
  if (LOOPBACK.check(address, family)) return 'loopback'
  return PRIVATE.check(address, family) ? 'private' : 'public'
}

const ORDER: readonly Nearness[] = ['public', 'private', 'loopback']

/** Whether a server of the one nearness may name an address of the other one. */
export function mayName(server: Nearness, address: Nearness): boolean {
  return address !== 'forbidden' && ORDER.indexOf(address) <= ORDER.indexOf(server)
}

function blockList(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList()
  for (const [address, bits] of subnets) {
    list.addSubnet(address, bits, address.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
