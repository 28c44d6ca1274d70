import {
  AUTO,
  DEFAULT_VARIANT,
  NEWEST_SCHEMA,
} from '../../core/pipeline/profile/default-pipeline.ts'
import { isTable, type Tree, valueAt } from '../../core/pipeline/profile/key-path.ts'
import { type PipelineConfig, pipelineSchema } from '../../core/pipeline/profile/pipeline-config.ts'
import { describeIssue } from '../describe-issue.ts'
import { ConfigError } from '../read-toml.ts'
import { lineOf } from '../toml-lines.ts'
import { configuredViews } from '../views.ts'
import type { FileLayer } from './layer-file.ts'

/**
 * The configuration of layers, of which later ones take precedence key by key.
 * @throws ConfigError for what only shows in all of them: variants and views that none has
 */
export function mergeLayers(layers: readonly FileLayer[]): PipelineConfig {
  const all = layers.reduce<Tree>((tree, { settings }) => merge(tree, settings as Tree), {})
  const merged = withAgent(all, layers)
  const parsed = pipelineSchema.safeParse({ ...merged, schema_version: NEWEST_SCHEMA })
  if (!parsed.success) {
    const faults = parsed.error.issues.map(issue => {
      const { path } = issue
      const { file, source } =
        layers.findLast(layer => has(layer.settings as Tree, path)) ?? NO_FILE
      const place = file === '' ? '' : `${file}: line ${lineOf(source, path)}: `
      return `${place}${path.join('.')}: ${describeIssue(issue, pipelineSchema)}`
    })
    throw new ConfigError(faults)
  }
  const knownViews = configuredViews(parsed.data.views)
  const ofTools = layers.map(({ settings }) => settings).toReversed()
  // One layer is found in the merged configuration as well.
  const more = ofTools.length > 1 ? { layers: ofTools } : {}
  return { ...parsed.data, knownViews, ...more }
}

const AGENT_AT = ['profiles', 'agent', 'active'] as const

/** With the agent's variant that `tune` wrote, if it is to be found by itself. */
function withAgent(merged: Tree, layers: readonly FileLayer[]): Tree {
  if (valueAt(merged, AGENT_AT) !== AUTO) return merged
  const tuned = layers.find(({ name }) => name === 'tuned')
  const active = valueAt((tuned?.settings ?? {}) as Tree, AGENT_AT) ?? DEFAULT_VARIANT
  return merge(merged, { profiles: { agent: { active } } })
}

const NO_FILE = { file: '', source: '' }

function has(tree: Tree, path: readonly PropertyKey[]): boolean {
  let value: unknown = tree
  for (const part of path) {
    if (!isTable(value) || !Object.hasOwn(value, part)) return false
    value = value[String(part)]
  }
  return true
}

/** Tables are merged, anything else is replaced. */
function merge(under: Tree, over: Tree): Tree {
  const entries = new Map(Object.entries(under))
  for (const [name, value] of Object.entries(over)) {
    const before = entries.get(name)
    entries.set(name, isTable(before) && isTable(value) ? merge(before, value) : value)
  }
  return Object.fromEntries(entries)
}
