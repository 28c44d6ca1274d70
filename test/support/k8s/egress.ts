import { BlockList, isIPv6 } from 'node:net'
import { all, type Manifest } from './manifest.ts'

/** The rules of all policies about what the pods may reach. */
export function egressRules(objects: readonly Manifest[]) {
  return all(objects, 'NetworkPolicy').flatMap(({ spec }) => spec?.egress ?? [])
}

/** Whether the policies of a cluster let the pods reach an address outside of it, over TCP. */
export function mayReach(objects: readonly Manifest[], address: string, port: number): boolean {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  return egressRules(objects).some(({ to, ports }) => {
    const isPort = ports?.some(each => each.port === port && each.protocol === 'TCP') ?? true
    // Without `to` a rule is about every address.
    const isPeer = to?.some(({ ipBlock }) => {
      if (ipBlock === undefined) return false
      const { cidr, except = [] } = ipBlock
      return contains([cidr], address, family) && !contains(except, address, family)
    })
    return isPort && (isPeer ?? true)
  })
}

/** Hosts that Cilium lets the pods reach by name over TCP, with the port. */
export function reachableNames(objects: readonly Manifest[]): string[] {
  const rules = all(objects, 'CiliumNetworkPolicy').flatMap(({ spec }) => spec.egress)
  return rules.flatMap(({ toFQDNs = [], toPorts }) =>
    toFQDNs.flatMap(({ matchName }) =>
      toPorts.flatMap(({ ports }) => ports.map(({ port }) => `${matchName}:${port}`)),
    ),
  )
}

function contains(ranges: readonly string[], address: string, family: 'ipv4' | 'ipv6'): boolean {
  const list = new BlockList()
  for (const range of ranges) {
    const [net = '', bits] = range.split('/')
    if (isIPv6(net) === (family === 'ipv6')) list.addSubnet(net, Number(bits), family)
  }
  return list.check(address, family)
}
