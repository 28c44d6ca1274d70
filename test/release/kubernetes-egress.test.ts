import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { configOf } from '../support/k8s/container-config.ts'
import { egressRules, mayReach, reachableNames } from '../support/k8s/egress.ts'
import { all, type Manifest } from '../support/k8s/manifest.ts'
import { render, renderWith } from '../support/k8s/render.ts'

const OVERLAYS = readdirSync(new URL('../../k8s/overlays', import.meta.url))
/** Addresses of documentation and of public resolvers, as a vendor's might be. */
const PUBLIC = ['8.8.8.8', '203.0.113.7', '2001:4860:4860::8888']
/**
 * Where nothing outside the cluster is: pods, the cluster's API, the cloud's metadata, the node.
 */
const PRIVATE = [
  '0.0.0.0',
  '10.96.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::1',
  '::ffff:10.96.0.1',
  '64:ff9b::a60:1',
  '2002:a60:1::1',
  'fd00:ec2::254',
  'fe80::1',
  'ff02::1',
]

/** Upstreams of the proxies, as the service would start. */
function upstreams(objects: readonly Manifest[]): URL[] {
  const { anthropic_url, openai_url } = configOf(objects).proxy
  return [anthropic_url, openai_url].flatMap(url => (url === undefined ? [] : [new URL(url)]))
}

const portOf = (url: URL) => Number(url.port || 443)

describe.each(OVERLAYS)('overlays/%s', name => {
  const objects = render(`overlays/${name}`)

  it('may reach the vendors if it forwards to them, and nothing outside if not', () => {
    const wanted = upstreams(objects)
    if (wanted.length === 0) {
      for (const address of [...PUBLIC, ...PRIVATE]) {
        for (const port of [53, 80, 443]) {
          expect(mayReach(objects, address, port), `${address}:${port}`).toBe(false)
        }
      }
      expect(reachableNames(objects)).toEqual([])
      return
    }
    for (const url of wanted) {
      const isNamed = reachableNames(objects).includes(`${url.hostname}:${portOf(url)}`)
      const isOpen = PUBLIC.every(address => mayReach(objects, address, portOf(url)))
      expect(isNamed || isOpen, url.href).toBe(true)
    }
  })
})

it('has an overlay that forwards, and ones that do not', () => {
  const forwards = OVERLAYS.filter(name => upstreams(render(`overlays/${name}`)).length > 0)
  expect(forwards).toEqual(['proxies', 'team'])
  expect(OVERLAYS.length).toBeGreaterThan(forwards.length)
})

describe('components', () => {
  it('proxies: lets nothing out by itself', () => {
    const objects = renderWith('proxies')
    expect(upstreams(objects).length).toBeGreaterThan(0)
    expect(egressRules(objects)).toEqual(egressRules(render('base')))
  })

  it('egress-vendors: opens one port of public addresses, and no private one', () => {
    const objects = renderWith('egress-vendors')
    for (const address of PUBLIC) {
      expect(mayReach(objects, address, 443), address).toBe(true)
      for (const port of [22, 53, 80, 6443, 8443]) {
        expect(mayReach(objects, address, port), `${address}:${port}`).toBe(false)
      }
    }
    expect(PRIVATE.filter(address => mayReach(objects, address, 443))).toEqual([])
  })

  it('egress-vendors-cilium: opens the vendors by name, whose addresses Cilium learns', () => {
    const objects = renderWith('proxies', 'egress-vendors-cilium')
    const hosts = upstreams(objects).map(url => `${url.hostname}:${portOf(url)}`)
    expect(hosts.length).toBeGreaterThan(0)
    expect(reachableNames(objects).sort()).toEqual(hosts.sort())
    expect(PUBLIC.filter(address => mayReach(objects, address, 443))).toEqual([])
    const [policy] = all(objects, 'CiliumNetworkPolicy')
    const dns = policy?.spec.egress.find(({ toEndpoints }) => toEndpoints !== undefined)
    expect(dns?.toPorts[0]).toMatchObject({
      ports: [{ port: '53' }],
      rules: { dns: [{ matchPattern: '*' }] },
    })
  })

  it('egress-upstreams: opens labelled namespaces, and no address', () => {
    const objects = renderWith('egress-upstreams')
    const rules = egressRules(objects).slice(egressRules(render('base')).length)
    expect(rules.map(({ to }) => to)).toEqual([
      [{ namespaceSelector: { matchLabels: { 'haversack-upstream': 'allowed' } } }],
    ])
    expect([...PUBLIC, ...PRIVATE].filter(address => mayReach(objects, address, 443))).toEqual([])
  })
})
