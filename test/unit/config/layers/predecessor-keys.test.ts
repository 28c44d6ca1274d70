import { expect, it } from 'vitest'
import { HINT_FAMILIES } from '../../../../src/core/hints/hint.ts'
import { FORMAT_IDS } from '../../../../src/core/pipeline/profile/format-ids.ts'
import { resolveProfile } from '../../../../src/core/pipeline/profile/resolve.ts'
import { layersFolder } from './layers-folder.ts'
import { SAVED } from './predecessor-file.ts'

it('loads, with one warning for each key that is named otherwise here', () => {
  const folder = layersFolder()
  folder.write('pipeline_config.toml', SAVED)
  const { pipeline, warnings } = folder.read()
  const { mckp, profiles, hints } = pipeline
  expect(mckp.formats_enabled.toSorted()).toEqual(FORMAT_IDS.toSorted())
  expect(profiles.llm.variants['default']?.tokenizer).toBe('o200k_base')
  expect(profiles.tokenizer.variants).toEqual({ o200k_base: { inline_json_cost: 1 } })
  expect(profiles.agent.variants['marathon_refactor']).toEqual({
    recursion_depth: 7,
    near_ref_enabled: true,
  })
  expect(profiles.data.variants['k8s_logs']?.hint_set?.toSorted()).toEqual(
    HINT_FAMILIES.filter(family => family !== 'format').toSorted(),
  )
  expect(hints.types).toMatchObject({
    near_reference: { max_per_session: 50 },
    format: { enabled: false },
  })
  expect(resolveProfile(pipeline, { tool: 'get_issues' })).toMatchObject({
    dedup: { lruSize: 5, exact: false },
    preferred: 'md',
  })
  const keys = warnings.map(line => /: line \d+: (\S+): /.exec(line)?.[1])
  expect(keys.toSorted()).toEqual(
    [
      ...['telemetry', 'tools', 'enrichment'],
      ...Array(3).fill('mckp.formats_enabled'),
      'profiles.tokenizer.variants.openai_o200k',
      ...['chars_per_token', 'bpe', 'toon_overhead'].map(
        key => `profiles.tokenizer.variants.openai_o200k.${key}`,
      ),
      'profiles.llm.variants.default.tokenizer',
      'profiles.agent.auto_detect_window',
      ...['priority', 'mckp_recursion_depth', 'hint_aggressiveness'].map(
        key => `profiles.agent.variants.marathon_refactor.${key}`,
      ),
      ...Array(2).fill('profiles.data.variants.k8s_logs.hint_set'),
      'hints.default_verbosity',
      ...['near_ref', 'inline_format_hint', 'delta'].map(key => `hints.types.${key}`),
    ].toSorted(),
  )
  expect(warnings).toContainEqual(
    expect.stringMatching(/line 46: hints\.types\.near_ref: is called "near_reference" here$/),
  )
  expect(warnings).toContainEqual(expect.stringContaining('"kv" is called "tree" here'))
})

it('takes the name of this version if the file has both', () => {
  const folder = layersFolder()
  folder.write(
    'pipeline_config.toml',
    '[hints.types.near_ref]\nenabled = false\n[hints.types.near_reference]\nenabled = true\n',
  )
  expect(folder.read().pipeline.hints.types.near_reference?.enabled).toBe(true)
})

it('leaves faults of renamed keys where they stand', () => {
  const folder = layersFolder()
  folder.write('pipeline_config.toml', '[hints.types]\n[hints.types.near_ref]\nenabled = 3\n')
  expect(folder.faults()).toEqual([expect.stringContaining('near_reference.enabled: must be true')])
})

it('switches off what the predecessor could leave out, and says so', () => {
  const folder = layersFolder()
  const text = '[mckp]\nformats_enabled = ["csv_from_md", "csv", "json_compact"]\n'
  folder.write('pipeline_config.toml', text)
  const { pipeline, warnings } = folder.read()
  expect(FORMAT_IDS.filter(id => !pipeline.mckp.formats_enabled.includes(id))).toEqual(['tree'])
  const says = /line 2: mckp\.formats_enabled: switches off tree: .* longer$/
  expect(warnings).toContainEqual(expect.stringMatching(says))
})

it('of this version switches off all that a list does not name', () => {
  const folder = layersFolder()
  folder.write('pipeline_config.toml', '[mckp]\nformats_enabled = ["csv", "json_compact"]\n')
  const { pipeline, warnings } = folder.read()
  expect(pipeline.mckp.formats_enabled).toEqual(['csv', 'json_compact'])
  expect(warnings).toEqual([expect.stringMatching(/switches off tree, .*prefixed.*: .* longer$/)])
})

it('keeps a variant of which every key is without an effect here', () => {
  const folder = layersFolder()
  const variant = '[profiles.agent.variants.mine]\npriority = "accuracy"\n'
  folder.write('pipeline_config.toml', `[profiles.agent]\nactive = "mine"\n${variant}`)
  expect(folder.read().pipeline.profiles.agent.variants).toMatchObject({ mine: {} })
})
