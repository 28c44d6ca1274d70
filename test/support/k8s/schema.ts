import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Service } from 'kubernetes-models/v1/Service'
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount'
import { faultsOfCiliumPolicy } from './cilium-policy.ts'
import type { Manifest } from './manifest.ts'

interface Model {
  new (data: never): { validate(): void }
  readonly apiVersion: string
  readonly kind: string
}

const MODELS: readonly Model[] = [
  ConfigMap,
  HorizontalPodAutoscaler,
  NetworkPolicy,
  PodDisruptionBudget,
  PrometheusRule,
  Service,
  ServiceAccount,
  ServiceMonitor,
  StatefulSet,
]

/**
 * What a strict API server would say about an object, a line each: the schemas' own faults, and
 * every field that the kind does not have.
 *
 * The published validators pass over unknown fields, as Kubernetes' schemas do. But they are
 * compiled code that reads exactly the fields that they know, and all of a map's. So a field that
 * nobody has read after the validation is one that the kind does not have.
 */
export function faultsOf(object: Manifest): string[] {
  const { apiVersion, kind } = object
  if (kind === 'CiliumNetworkPolicy') return faultsOfCiliumPolicy(object)
  const model = MODELS.find(each => each.apiVersion === apiVersion && each.kind === kind)
  if (model === undefined) return [`no schema for ${apiVersion} ${kind}`]
  const read = new Set<string>()
  const instance = new model(object as never)
  const faults: string[] = []
  try {
    recordReads(instance, '', read).validate()
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error))
  }
  return [
    ...faults,
    ...pathsOf(object)
      .filter(path => !read.has(path))
      .map(unknownField),
  ]
}

const unknownField = (path: string) => `${path}: the kind has no such field`

/** A view of `value` that adds the path of every property that is read to `read`. */
function recordReads<T extends object>(value: T, path: string, read: Set<string>): T {
  return new Proxy(value, {
    get(target, name, receiver) {
      const property: unknown = Reflect.get(target, name, receiver)
      if (typeof name === 'symbol') return property
      const at = `${path}/${name}`
      read.add(at)
      const isData = typeof property === 'object' && property !== null
      return isData ? recordReads(property, at, read) : property
    },
  })
}

/** The paths of all values in a tree. */
function pathsOf(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([name, each]) => pathsOf(each, `${path}/${name}`))
  return path === '' ? inner : [path, ...inner]
}
