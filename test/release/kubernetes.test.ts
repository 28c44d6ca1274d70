import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { configSchema } from '../../src/config/config.ts'
import { FIXED_LIMITS } from '../../src/config/fixed-limits.ts'
import { loadConfig } from '../../src/config/load.ts'
import { livezRoute, metricsRoute, readyzRoute } from '../../src/http/routes/operator.ts'
import { VERSION } from '../../src/runtime/version.ts'
import { parseDockerfile } from '../support/image/parse-dockerfile.ts'
import { createCatalogue } from '../support/k8s/catalogue.ts'
import { configMap, configOf, environment, mountOf } from '../support/k8s/container-config.ts'
import {
  all,
  type Labels,
  type Manifest,
  quantity,
  selects,
  workload,
} from '../support/k8s/manifest.ts'
import { render, renderWith } from '../support/k8s/render.ts'
import { faultsOf } from '../support/k8s/schema.ts'

const root = new URL('../../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, root), 'utf8')

/**
 * What is rendered: every overlay, and the base with every component, used by an overlay or not.
 */
const RENDERED: Readonly<Record<string, readonly Manifest[]>> = {
  base: render('base'),
  'overlays/single': render('overlays/single'),
  'overlays/production': render('overlays/production'),
  'overlays/proxies': render('overlays/proxies'),
  'overlays/replicas': render('overlays/replicas'),
  'overlays/team': render('overlays/team'),
  'components/monitoring': renderWith('monitoring'),
  'components/tracing': renderWith('tracing'),
  'components/encryption': renderWith('encryption'),
  'components/mcp-headers': renderWith('mcp-headers'),
  'components/autoscaling': renderWith('autoscaling'),
  'components/shared-store': renderWith('shared-store'),
  'components/proxies': renderWith('proxies'),
  'components/egress-vendors': renderWith('egress-vendors'),
  'components/egress-vendors-cilium': renderWith('proxies', 'egress-vendors-cilium'),
  'components/egress-upstreams': renderWith('egress-upstreams'),
}
/** Made by hand once, as the guide says, and their keys. */
const SECRETS: Readonly<Record<string, string>> = {
  'haversack-keys': 'keys.json',
  'haversack-metrics-key': 'key',
  'haversack-store-keys': 'keys',
  'haversack-redis': 'url',
  // A key for each header; this one is the guide's.
  'haversack-mcp-headers': 'github',
}
/** Seconds between the end of a slow drain and the kubelet's SIGKILL. */
const MARGIN_S = 5
const MIB = 2 ** 20
/** The main thread, its code and the vocabularies. */
const MAIN_BYTES = 256 * MIB

describe.each(Object.entries(RENDERED))('k8s/%s', (_, objects) => {
  const { statefulSet, spec, pod, container, labels } = workload(objects)
  const claims = spec.volumeClaimTemplates ?? []
  const containerPorts = new Map(
    (container.ports ?? []).map(port => [port.name, port.containerPort]),
  )

  it('has objects as their schemas say, without unknown fields', () => {
    expect(
      objects.flatMap(object => faultsOf(object).map(fault => `${object.kind}: ${fault}`)),
    ).toEqual([])
  })

  it('puts everything into one namespace, under one name', () => {
    for (const { kind, metadata } of objects) {
      expect(metadata.namespace, kind).toBe('haversack')
      expect(metadata.labels, kind).toMatchObject({ 'app.kubernetes.io/name': 'haversack' })
    }
  })

  it('selects its pods wherever it selects pods', () => {
    const selectors: (Labels | undefined)[] = [
      spec.selector.matchLabels,
      ...all(objects, 'Service').map(service => service.spec?.selector),
      ...all(objects, 'PodDisruptionBudget').map(budget => budget.spec?.selector?.matchLabels),
      ...all(objects, 'NetworkPolicy').map(policy => policy.spec?.podSelector?.matchLabels),
      ...all(objects, 'CiliumNetworkPolicy').map(
        policy => policy.spec.endpointSelector.matchLabels,
      ),
      ...(pod.topologySpreadConstraints ?? []).map(each => each.labelSelector?.matchLabels),
    ]
    expect(selectors.length).toBeGreaterThanOrEqual(7)
    for (const selector of selectors) {
      expect(Object.keys(selector ?? {})).not.toEqual([])
      expect(selects(selector ?? {}, labels), JSON.stringify(selector)).toBe(true)
    }
  })

  it('names ports that the container has', () => {
    for (const { spec: service } of all(objects, 'Service')) {
      for (const { port, targetPort } of service?.ports ?? []) {
        expect(containerPorts.get(targetPort as string)).toBe(port)
      }
    }
    for (const { spec: policy } of all(objects, 'NetworkPolicy')) {
      for (const { ports } of policy?.ingress ?? []) {
        expect(ports?.map(({ port }) => port)).toEqual(['http'])
      }
    }
    expect([...containerPorts]).toEqual([['http', configOf(objects).port]])
  })

  it('lets nobody in or out whom it does not name', () => {
    const policies = all(objects, 'NetworkPolicy').map(policy => policy.spec)
    expect(policies.flatMap(policy => policy?.policyTypes)).toEqual(
      expect.arrayContaining(['Ingress', 'Egress']),
    )
    const peers = policies.flatMap(policy => [
      ...(policy?.ingress ?? []).map(({ from }) => from),
      ...(policy?.egress ?? []).map(({ to }) => to),
    ])
    for (const peer of peers) {
      expect(peer?.length).toBeGreaterThan(0)
      for (const each of peer ?? []) {
        // Addresses have no names; kubernetes-egress.test.ts says which ones may be reached.
        if (each.ipBlock !== undefined) continue
        const names = [each.namespaceSelector, each.podSelector].map(
          selector => selector?.matchLabels,
        )
        expect(Object.keys(Object.assign({}, ...names))).not.toEqual([])
      }
    }
  })

  it('refers to objects that are there, or that the guide has one make', () => {
    expect(all(objects, 'ServiceAccount').map(({ metadata }) => metadata.name)).toContain(
      pod.serviceAccountName,
    )
    const governing = all(objects, 'Service').find(
      ({ metadata }) => metadata.name === spec.serviceName,
    )
    expect(governing?.spec?.clusterIP).toBe('None')
    for (const { configMap: map, secret } of pod.volumes ?? []) {
      if (map)
        expect(all(objects, 'ConfigMap').map(({ metadata }) => metadata.name)).toContain(map.name)
      else expect(Object.keys(SECRETS)).toContain(secret?.secretName)
    }
    const claimed = claims.map(({ metadata }) => metadata?.name)
    const volumes = [...(pod.volumes ?? []).map(({ name }) => name), ...claimed]
    expect(container.volumeMounts?.map(({ name }) => name).sort()).toEqual(volumes.sort())
  })

  it('rolls the pods when the configuration changes', () => {
    expect(configMap(objects).metadata.name).toMatch(/^haversack-config-[a-z0-9]{10}$/)
  })

  it('starts with a configuration without faults, from files that are mounted', () => {
    const env = environment(objects)
    const config = configOf(objects)
    expect(config.host).toBe('0.0.0.0')
    expect(env['HAVERSACK_CONFIG']).toBe(`${mountOf(objects, 'config')}/haversack.toml`)
    const keys = env['HAVERSACK_KEYS_FILE'] ?? ''
    expect(dirname(keys)).toBe(mountOf(objects, 'keys'))
    expect(basename(keys)).toBe(SECRETS['haversack-keys'])
    // Not the mount itself: that is root's, and the service could not close it to others.
    expect(dirname(env['HAVERSACK_DATA_DIR'] ?? '')).toBe(mountOf(objects, 'data'))
    expect(config.workers.count).toBe(quantity(container.resources?.limits?.['cpu']))
  })

  it('is let in under the names of its Service', () => {
    for (const { metadata, spec: service } of all(objects, 'Service')) {
      if (service?.clusterIP === 'None') continue
      const { name, namespace } = metadata
      const names = [name, `${name}.${namespace}`, `${name}.${namespace}.svc`]
      const hosts = [...names, `${name}.${namespace}.svc.cluster.local`]
      expect(configOf(objects).allowed_hosts).toEqual(expect.arrayContaining(hosts))
    }
  })

  it('leaves time to drain before the pod is killed', () => {
    const { drain_grace_ms: grace, drain_timeout_ms: timeout } = configOf(objects).limits
    const sleep = container.lifecycle?.preStop?.sleep?.seconds ?? 0
    expect(sleep).toBeGreaterThan(0)
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(
      sleep + (grace + timeout) / 1000 + MARGIN_S,
    )
  })

  it('has memory for full heaps and full queues', () => {
    const { workers, limits } = configOf(objects)
    const heaps = (workers.count + 1) * FIXED_LIMITS.heapMb(limits.max_body_bytes) * MIB
    const { requests, limits: most } = container.resources ?? {}
    expect(quantity(most?.['memory'])).toBeGreaterThanOrEqual(
      heaps + 2 * FIXED_LIMITS.queueBytes(limits.max_body_bytes) + MAIN_BYTES,
    )
    for (const resource of ['cpu', 'memory']) {
      expect(quantity(requests?.[resource])).toBeLessThanOrEqual(quantity(most?.[resource]))
    }
  })

  it('has a volume for a full store, and for a damaged one that was moved aside', () => {
    const [claim] = claims
    expect(quantity(claim?.spec?.resources?.requests?.['storage'])).toBeGreaterThanOrEqual(
      2 * configOf(objects).store.max_bytes,
    )
  })

  it('gives the process no right that it does not need', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      privileged: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(pod).not.toHaveProperty('hostNetwork')
    for (const account of all(objects, 'ServiceAccount')) {
      expect(account.automountServiceAccountToken).toBe(false)
    }
  })

  it('is probed where the service answers', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container
    const target = (path: string) => ({ path, port: 'http' })
    expect(startupProbe?.httpGet).toEqual(target(readyzRoute.path))
    expect(readinessProbe?.httpGet).toEqual(target(readyzRoute.path))
    expect(livenessProbe?.httpGet).toEqual(target(livezRoute.path))
  })

  it('runs the image that the Dockerfile makes, at this version', () => {
    const instructions = parseDockerfile(read('Dockerfile')).stages.at(-1)?.instructions ?? []
    const text = (name: string) => instructions.find(each => each.name === name)?.text
    const { runAsUser, runAsGroup, fsGroup } = pod.securityContext ?? {}
    expect(`${runAsUser}:${runAsGroup}`).toBe(text('USER'))
    expect(fsGroup).toBe(runAsGroup)
    expect(String(containerPorts.get('http'))).toBe(text('EXPOSE'))
    expect(mountOf(objects, 'data')).toBe(text('VOLUME'))
    const version = `:${VERSION.replaceAll('.', '\\.')}`
    expect(container.image).toMatch(
      new RegExp(`^([\\w.-]+/)?haversack(${version}|@sha256:[0-9a-f]{64})$`),
    )
  })

  it('has one replica, or leaves the number to the autoscaler', () => {
    const [autoscaler] = all(objects, 'HorizontalPodAutoscaler')
    expect(spec.replicas).toBe(autoscaler === undefined ? 1 : undefined)
    if (autoscaler === undefined) return
    const { apiVersion, kind, metadata } = statefulSet
    expect(autoscaler.spec?.scaleTargetRef).toEqual({ apiVersion, kind, name: metadata.name })
  })
})

describe('components', () => {
  it('mcp-headers: mounts the files that the guide has the configuration name', () => {
    const objects = renderWith('mcp-headers')
    const guide = read('docs/guide/kubernetes.md')
    const toml = /```toml\n(\[mcp\.[\s\S]*?)```/.exec(guide)?.[1] ?? ''
    const file = /"file:([^"]+)"/.exec(toml)?.[1] ?? ''
    expect(dirname(file)).toBe(mountOf(objects, 'mcp-headers'))
    expect(basename(file)).toBe(SECRETS['haversack-mcp-headers'])
    expect(guide).toContain(`haversack-mcp-headers --from-file=${basename(file)}`)
    const { servers } = configSchema.parse(parseToml(toml)).mcp
    expect(servers['github']?.auth.kind).toBe('headers')
    const { volumes = [] } = workload(objects).pod
    const volume = volumes.find(({ name }) => name === 'mcp-headers')
    // Readable for the group of the process, and for nobody else.
    expect(volume?.secret).toEqual({ secretName: 'haversack-mcp-headers', defaultMode: 0o440 })
    expect(workload(objects).pod.securityContext?.fsGroup).toBeDefined()
  })

  it('monitoring: scrapes each pod once, with the key of a documented Secret', () => {
    const objects = renderWith('monitoring')
    const [monitor] = all(objects, 'ServiceMonitor')
    const [endpoint, ...others] = monitor?.spec?.endpoints ?? []
    expect(others).toEqual([])
    const scraped = all(objects, 'Service').filter(({ metadata }) =>
      selects(monitor?.spec?.selector.matchLabels ?? {}, metadata.labels ?? {}),
    )
    expect(scraped.map(({ metadata }) => metadata.name)).toEqual(['haversack'])
    expect(scraped[0]?.spec?.ports?.map(({ name }) => name)).toContain(endpoint?.port)
    expect(endpoint?.path).toBe(metricsRoute.path)
    const { name = '', key } = endpoint?.authorization?.credentials ?? {}
    expect(key).toBe(SECRETS[name])
    expect(monitor?.spec?.jobLabel).toBe('app.kubernetes.io/name')
  })

  it('encryption: reads its keys from the mounted Secret', () => {
    const objects = renderWith('encryption')
    const path = environment(objects)['HAVERSACK_STORE_KEYS_FILE'] ?? ''
    expect(dirname(path)).toBe(mountOf(objects, 'store-keys'))
    expect(basename(path)).toBe(SECRETS['haversack-store-keys'])
    expect(configOf(objects).store.encryption_keys).toHaveLength(1)
  })

  it('autoscaling: goes by a metric that the service shows', async () => {
    const [autoscaler] = all(renderWith('autoscaling'), 'HorizontalPodAutoscaler')
    const names = autoscaler?.spec?.metrics?.flatMap(({ pods }) => pods?.metric.name ?? [])
    expect(names).toHaveLength(1)
    expect([...(await createCatalogue()).keys()]).toContain(names?.[0])
  })

  it('shared-store: reads the URL from the mounted Secret, and may reach that port', () => {
    const objects = renderWith('shared-store')
    const path = environment(objects)['HAVERSACK_REDIS_URL_FILE'] ?? ''
    expect(dirname(path)).toBe(mountOf(objects, 'redis'))
    expect(basename(path)).toBe(SECRETS['haversack-redis'])
    const { url } = configOf(objects).store.redis ?? {}
    expect(url).toMatchObject({ kind: 'sentinel', username: 'haversack', primaryName: 'haversack' })
    const ports = all(objects, 'NetworkPolicy')
      .find(({ metadata }) => metadata.name === 'haversack-egress-redis')
      ?.spec?.egress?.flatMap(({ ports = [] }) => ports.map(({ port }) => port))
    expect(ports).toEqual([6379, url?.nodes[0]?.port])
  })

  it('replicas: keeps a client with its pod, and half of the pods elsewhere', () => {
    const objects = render('overlays/replicas')
    const [service] = all(objects, 'Service').filter(({ spec }) => spec?.clusterIP !== 'None')
    expect(service?.spec).toMatchObject({ sessionAffinity: 'ClientIP' })
    const [byNode] = workload(objects).pod.topologySpreadConstraints ?? []
    expect(byNode).toMatchObject({
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'DoNotSchedule',
    })
    expect(all(objects, 'HorizontalPodAutoscaler')[0]?.spec).toMatchObject({ minReplicas: 3 })
  })

  it('tracing: may reach the collector that it names', () => {
    const objects = renderWith('tracing')
    const endpoint = new URL(environment(objects)['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '')
    const policy = all(objects, 'NetworkPolicy').find(
      ({ metadata }) => metadata.name === 'haversack-tracing',
    )
    const [rule] = policy?.spec?.egress ?? []
    expect(rule?.ports).toEqual([{ port: Number(endpoint.port), protocol: 'TCP' }])
    const namespace = rule?.to?.[0]?.namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']
    expect(endpoint.hostname.split('.')[1]).toBe(namespace)
  })
})

describe('the service in a cluster', () => {
  it('passes over the variables that Kubernetes sets for its Service', () => {
    const links = {
      HAVERSACK_SERVICE_HOST: '10.0.0.1',
      HAVERSACK_SERVICE_PORT: '8787',
      HAVERSACK_PORT: 'tcp://10.0.0.1:8787',
    }
    expect(loadConfig({ env: links }).port).toBe(loadConfig({ env: {} }).port)
  })
})

describe('docs/guide/kubernetes.md', () => {
  const guide = read('docs/guide/kubernetes.md')

  it.each(Object.entries(SECRETS))('tells how to make the Secret %s', (name, key) => {
    expect(guide).toContain(`create secret generic ${name}`)
    expect(guide).toMatch(new RegExp(`--from-(file|literal)=${key.replace('.', '\\.')}`))
  })

  it('names only folders and files that exist', () => {
    for (const [, path = ''] of guide.matchAll(/`(k8s\/[\w./-]+)`/g)) {
      expect(existsSync(new URL(path, root)), path).toBe(true)
    }
  })
})
