import { expect, it } from 'vitest'
import { z } from 'zod'
import { projectFaults } from '../../../../src/config/layers/project-keys.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { leafKeys } from '../../../support/leaf-keys.ts'

/** Each of these was looked at: none can leave out parts of a result. */
const OF_REPOSITORIES = [
  'schema_version',
  'dedup.lru_size',
  'dedup.hint_verbosity',
  'dedup.min_body_chars',
  'dedup.enabled_per_endpoint.*',
  'dedup.near_ref_enabled',
  'dedup.host_blocks',
  'dedup.mutating_tools',
  'dedup.invalidates.*',
  'templates.active',
  'templates.endpoint_overrides.*',
  'mckp.recursion_depth',
  'mckp.formats_enabled',
  'mckp.shape_thresholds.*',
  'endpoint_overrides.*.lru_size',
  'endpoint_overrides.*.min_body_chars',
  'endpoint_overrides.*.hint_verbosity',
  'endpoint_overrides.*.formats',
  // How a budget is kept that the client has asked for.
  'endpoint_overrides.*.field_values.*',
  'profiles.data.active',
  'profiles.data.variants.*.endpoint_pattern',
  'profiles.data.variants.*.preferred_format',
  'profiles.data.variants.*.hint_set',
  'hints.types.*.enabled',
  'hints.types.*.max_per_session',
  'hints.types.*.applies_to_models',
]

it('a file in a repository may set only keys that were looked at', () => {
  const all = leafKeys(z.toJSONSchema(pipelineSchema, { io: 'input', unrepresentable: 'any' }))
  const allowed = all.filter(path => {
    const tree = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), true)
    return projectFaults(tree as Parameters<typeof projectFaults>[0]).length === 0
  })
  expect(allowed.toSorted()).toEqual(OF_REPOSITORIES.toSorted())
})
