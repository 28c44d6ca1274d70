import { BlockList, isIP } from 'node:net'

/**
 * How near to this machine an address is. `forbidden`: what answers with credentials of the machine
 * itself (metadata services of clouds), and what is no address of one host.
 */
export type Nearness = 'public' | 'private' | 'loopback' | 'forbidden'

const FORBIDDEN = blockList([
  ['169.254.0.0', 16],
  ['fe80::', 10],
  // Metadata, time, names and pod identities of AWS.
  ['fd00:ec2::', 32],
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
  if (isIP(address) === 0) return 'forbidden'
  if (isIP(address) === 4) return nearnessIn(address, 'ipv4')
  const bare = address.replace(/%.*$/, '')
  const own = nearnessIn(bare, 'ipv6')
  const inner = innerAddress(bare)
  return inner === null ? own : nearer(own, nearnessIn(inner, 'ipv4'))
}

function nearnessIn(address: string, family: 'ipv4' | 'ipv6'): Nearness {
  if (FORBIDDEN.check(address, family)) return 'forbidden'
  if (LOOPBACK.check(address, family)) return 'loopback'
  return PRIVATE.check(address, family) ? 'private' : 'public'
}

/** Where groups of 16 bits have an address of IPv4, which a gateway may reach; by their start. */
const WITHIN: readonly (readonly [start: readonly number[], at: number])[] = [
  // IPv4-compatible, mapped and translated (RFC 4291, 2765).
  [[0, 0, 0, 0, 0, 0], 6],
  [[0, 0, 0, 0, 0, 0xffff], 6],
  [[0, 0, 0, 0, 0xffff, 0], 6],
  // NAT64 with the well-known prefix and a local one (RFC 6052, 8215).
  [[0x64, 0xff9b], 6],
  // 6to4.
  [[0x2002], 1],
]

/** The address of IPv4 that one of IPv6 has within it; `null` if it has none. */
function innerAddress(address: string): string | null {
  const groups = groupsOf(address)
  const found = WITHIN.find(([start]) => start.every((group, at) => groups[at] === group))
  if (found === undefined) return null
  const [high = 0, low = 0] = groups.slice(found[1])
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight groups of an address of IPv6. */
function groupsOf(address: string): readonly number[] {
  const dotted = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  const [a = 0, b = 0, c = 0, d = 0] = (dotted ?? []).slice(1).map(Number)
  const last = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
  const hex = dotted === null ? address : address.slice(0, dotted.index) + last
  const [front = '', back] = hex.split('::')
  const read = (text: string) =>
    text === '' ? [] : text.split(':').map(each => Number.parseInt(each, 16))
  if (back === undefined) return read(front)
  const [start, end] = [read(front), read(back)]
  return [...start, ...Array<number>(8 - start.length - end.length).fill(0), ...end]
}

const ORDER: readonly Nearness[] = ['public', 'private', 'loopback']

function nearer(a: Nearness, b: Nearness): Nearness {
  if (a === 'forbidden' || b === 'forbidden') return 'forbidden'
  return ORDER.indexOf(a) > ORDER.indexOf(b) ? a : b
}

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
