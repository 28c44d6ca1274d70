import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { readPipelineConfig } from '../../../src/config/pipeline.ts'
import { ConfigError } from '../../../src/config/read-toml.ts'
import { builtInViews } from '../../../src/config/views.ts'
import type { EncodeAnswer } from '../../../src/core/contract/encode.ts'
import { OPERATIONS } from '../../../src/core/operations/registry.ts'
import { DEFAULT_PIPELINE } from '../../../src/core/pipeline/profile/default-pipeline.ts'
import type { PipelineConfig } from '../../../src/core/pipeline/profile/pipeline-config.ts'
import { bytesOf, header, inlineRunner, workerSetup } from '../../support/runner.ts'

/** With the views that are built in. */
const DEFAULTS = {
  ...DEFAULT_PIPELINE,
  knownViews: builtInViews().map(({ file: _, ...view }) => view),
}

const folder = mkdtempSync(join(tmpdir(), 'haversack-pipeline-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(toml: string): string {
  const path = join(folder, 'named.toml')
  writeFileSync(path, toml)
  return path
}

const read = (toml: string) =>
  readPipelineConfig({ data_dir: folder, pipeline_config_file: file(toml) })

function faults(attempt: () => unknown): string {
  try {
    attempt()
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

describe('pipeline_config.toml', () => {
  it('is looked for in the data folder, and need not be there', () => {
    const data_dir = join(folder, 'data')
    mkdirSync(data_dir)
    expect(readPipelineConfig({ data_dir })).toEqual(DEFAULTS)
    expect(readPipelineConfig({ data_dir: join(folder, 'none') })).toEqual(DEFAULTS)
    writeFileSync(join(data_dir, 'pipeline_config.toml'), '[mckp]\nrecursion_depth = 3\n')
    expect(readPipelineConfig({ data_dir }).mckp.recursion_depth).toBe(3)
  })

  it('can be another file, which has to be there', () => {
    expect(read('[dedup]\nlru_size = 9\n').dedup.lru_size).toBe(9)
    const pipeline_config_file = join(folder, 'nothing.toml')
    expect(faults(() => readPipelineConfig({ data_dir: folder, pipeline_config_file }))).toContain(
      'cannot be read',
    )
    expect(faults(() => read('[dedup'))).toContain('named.toml')
  })

  it('keeps the defaults of what it does not say', () => {
    expect(read('')).toEqual(DEFAULTS)
    expect(read('schema_version = 1\n[hints.types.format]\nenabled = false\n')).toEqual({
      ...DEFAULTS,
      hints: {
        ...DEFAULT_PIPELINE.hints,
        types: { format: { enabled: false, applies_to_models: ['*'] } },
      },
    })
  })

  it('has every fault named at once, with the file', () => {
    const message = faults(() =>
      read(`schema_version = 5
        colour = "red"
        [dedup]
        lru_sise = 5
        lru_size = 0
        [telemetri]
        enabled = true
        [mckp]
        formats_enabled = ["tooon"]
        recursion_depth = 17
        [mckp.shape_thresholds]
        array_of_objects_min_key_stability = 1.5
        [templates.endpoint_overrides]
        get_issues = "csv_from_mdx"
        [endpoint_overrides.Read]
        hint_verbosity = 3
        [profiles.tokenizer.variants.o300k]
        inline_json_cost = 1.0
        [profiles.data.variants.logs]
        preferred_format = "csv"
        [hints.types.elisionn]
        enabled = false
      `),
    )
    for (const fault of [
      'line 1: schema_version: 5 is of a later version; this version reads 1 to 4',
      'line 2: colour: colour is no setting',
      'line 4: dedup.lru_sise: lru_sise is no setting; did you mean lru_size?',
      'line 5: dedup.lru_size: must be above 0',
      'line 6: telemetri: telemetri is no setting',
      'line 9: mckp.formats_enabled.0: must be',
      'line 10: mckp.recursion_depth: must be at most 16',
      'line 12: mckp.shape_thresholds.array_of_objects_min_key_stability: must be at most 1',
      'line 14: templates.endpoint_overrides.get_issues: must be "csv_from_md"',
      'line 16: endpoint_overrides.Read.hint_verbosity: must be "terse"',
      'line 17: profiles.tokenizer.variants.o300k: ',
      'line 19: profiles.data.variants.logs.endpoint_pattern: must be a text',
      'line 21: hints.types.elisionn: elisionn is no setting; did you mean elision?',
    ]) {
      expect(message).toContain(`named.toml: ${fault}`)
    }
    expect(message).toContain('has 13 faults')
  })

  it.each([
    ['llm', 'active = "gpt-5"', 'auto'],
    ['agent', 'active = "automatic"', 'marathon_refactor'],
    ['data', 'active = "constructor"', 'auto'],
    ['tokenizer', 'active = "bpe"', 'o200k_base'],
  ])(
    'refuses an active variant of %s that is none, and names those that are',
    (axis, toml, one) => {
      const message = faults(() => read(`[profiles.${axis}]\n${toml}\n`))
      expect(message).toContain(`profiles.${axis}.active: `)
      expect(message).toContain(one)
    },
  )

  it('takes a variant of the file as the active one', () => {
    const { llm } = read(
      '[profiles.llm]\nactive = "gpt-5"\n[profiles.llm.variants.gpt-5]\nmax_inline_nested = 9\n',
    ).profiles
    expect(llm).toEqual({
      active: 'gpt-5',
      variants: { 'gpt-5': { prefer_explicit_keys: false, max_inline_nested: 9 } },
    })
  })
})

describe('what it says', () => {
  const content = JSON.stringify([1, 2, 3, 4].map(id => ({ id, name: 'north gate' })))
  const toml = '[templates.endpoint_overrides]\nlist = "pipeline_deep_mckp"\n'
  let loaded = 0
  const layerOf = (answer: unknown) => (answer as EncodeAnswer).layer

  afterEach(() => vi.unstubAllEnvs())

  it('reaches the threads, as plain data', () => {
    const body = bytesOf(JSON.stringify({ content, tool: 'list' }))
    const layerWith = (pipeline: PipelineConfig = DEFAULT_PIPELINE) => {
      const setup = { ...workerSetup(), pipeline: structuredClone(pipeline) }
      const run = inlineRunner(OPERATIONS, setup)
      const { outcomes, body: answers } = run({
        jobs: [header('encode', body)],
        body: body.slice().buffer,
        slot: 0,
      })
      const [outcome] = outcomes
      if (outcome?.kind !== 'done') throw new Error(JSON.stringify(outcome))
      const { start, length } = outcome
      return layerOf(JSON.parse(Buffer.from(answers, start, length).toString()))
    }
    expect([layerWith(), layerWith(read(toml))]).toEqual(['L2', 'L1'])
  })

  it('holds for programs, which read it from where the service does', async () => {
    const layer = async () => {
      // A module of its own for each text after the question mark, which reads the file again.
      const fresh: typeof import('../../../src/index.ts') = await import(
        new URL(`../../../src/index.ts?${++loaded}`, import.meta.url).href
      )
      return layerOf(fresh.encode({ content, tool: 'list' }))
    }
    vi.stubEnv('HAVERSACK_DATA_DIR', join(folder, 'none'))
    expect(await layer()).toBe('L2')
    vi.stubEnv('HAVERSACK_PIPELINE_CONFIG', file(toml))
    expect(await layer()).toBe('L1')
  })
})
