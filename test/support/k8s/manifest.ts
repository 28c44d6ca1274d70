import type {
  IPrometheusRule,
  IServiceMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import type { IStatefulSet } from 'kubernetes-models/apps/v1'
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2'
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1'
import type {
  IConfigMap,
  IContainer,
  IPodSpec,
  IService,
  IServiceAccount,
} from 'kubernetes-models/v1'
import type { CiliumNetworkPolicy } from './cilium-policy.ts'

/** What every object of a cluster has. */
export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Labels
  }
}

export type Labels = Readonly<Record<string, string>>

/** The kinds that this project uses. */
export interface Kinds {
  readonly CiliumNetworkPolicy: CiliumNetworkPolicy
  readonly ConfigMap: IConfigMap
  readonly HorizontalPodAutoscaler: IHorizontalPodAutoscaler
  readonly NetworkPolicy: INetworkPolicy
  readonly PodDisruptionBudget: IPodDisruptionBudget
  readonly PrometheusRule: IPrometheusRule
  readonly Service: IService
  readonly ServiceAccount: IServiceAccount
  readonly ServiceMonitor: IServiceMonitor
  readonly StatefulSet: IStatefulSet
}

/** All objects of one kind. */
export function all<Kind extends keyof Kinds>(
  objects: readonly Manifest[],
  kind: Kind,
): (Kinds[Kind] & Manifest)[] {
  return objects.filter(object => object.kind === kind) as (Kinds[Kind] & Manifest)[]
}

/** The one StatefulSet, its pods and their one container. */
export function workload(objects: readonly Manifest[]) {
  const [statefulSet, ...others] = all(objects, 'StatefulSet')
  if (statefulSet?.spec === undefined || others.length > 0) throw new Error('not one StatefulSet')
  const { spec } = statefulSet
  const pod = spec.template.spec as IPodSpec
  const [container, ...more] = pod.containers
  if (container === undefined || more.length > 0) throw new Error('not one container')
  const labels = (spec.template.metadata?.labels ?? {}) as Labels
  return { statefulSet, spec, pod, container: container as IContainer, labels }
}

/** Whether an object with `labels` is selected; an empty selector selects everything. */
export function selects(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value)
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  m: 0.001,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
}

/** A quantity such as `500m` or `3Gi` as a number: processors, or bytes. */
export function quantity(text: string | number | undefined): number {
  const [, digits, unit = ''] = /^([\d.]+)(m|Ki|Mi|Gi)?$/.exec(String(text)) ?? []
  if (digits === undefined) throw new Error(`not a quantity: ${text}`)
  return Number(digits) * (UNITS[unit] as number)
}
