import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, it, vi } from 'vitest'
import { migrateConfig } from '../../../../src/cli/config/command.ts'
import { migrateFile } from '../../../../src/config/layers/migrate-file.ts'
import { ConfigError } from '../../../../src/config/read-toml.ts'
import { layersFolder } from './layers-folder.ts'
import { SAVED } from './predecessor-file.ts'

const migrated = (keepsDefaults: boolean) => migrateFile('old.toml', SAVED, { keepsDefaults })

describe('a migrated file', () => {
  it('has what a person chose, in the words of this version', () => {
    expect(parse(migrated(false).text)).toEqual({
      schema_version: 4,
      dedup: {
        hint_verbosity: 'standard',
        near_ref_enabled: false,
        min_body_chars: 200,
        enabled_per_endpoint: { get_issues: false },
      },
      templates: {
        active: ['csv_from_md', 'pipeline_deep_mckp', 'mr_diff_fence'],
        endpoint_overrides: { get_issues: 'csv_from_md' },
      },
      profiles: {
        tokenizer: { active: 'auto', variants: { o200k_base: { inline_json_cost: 1 } } },
        llm: { variants: { default: { tokenizer: 'o200k_base', context_window: 32_000 } } },
        agent: {
          active: 'auto',
          variants: { marathon_refactor: { near_ref_enabled: true } },
        },
        data: {
          variants: {
            k8s_logs: {
              endpoint_pattern: 'mcp__k8s__get_logs',
              preferred_format: 'pipeline_deep_mckp',
              hint_set: [
                ...['near_reference', 'reference', 'lines', 'overflow', 'metadata', 'elision'],
                'search_chain',
              ],
            },
          },
        },
      },
      hints: { types: { format: { enabled: false } } },
    })
  })

  it('has the predecessor’s defaults only if they are to stay', () => {
    expect(parse(migrated(true).text)).toMatchObject({
      dedup: { lru_size: 5 },
      mckp: { shape_thresholds: { array_of_objects_min_items: 4 } },
    })
    const other = SAVED.replace('lru_size = 5', 'lru_size = 6')
    expect(migrateFile('x', other, { keepsDefaults: false }).text).toContain('lru_size = 6')
  })

  it('is the same file if it is migrated once more, and needs no warning', () => {
    const { text } = migrated(true)
    expect(migrateFile('x', text, { keepsDefaults: true }).text).toBe(text)
    const folder = layersFolder()
    folder.write('pipeline_config.toml', text)
    expect(folder.read().warnings).toEqual([])
  })

  it('is reported line by line', () => {
    const { keys } = migrated(false)
    const fateOf = (key: string) => keys.find(each => each.key === key)
    expect(keys.map(({ line }) => line)).toEqual(
      keys.map(({ line }) => line).toSorted((a, b) => a - b),
    )
    expect(fateOf('schema_version')).toEqual({ line: 1, key: 'schema_version', fate: 'is 4' })
    expect(fateOf('dedup.lru_size')?.fate).toContain('own default')
    expect(fateOf('dedup.min_body_chars')?.fate).toBe('stays')
    expect(fateOf('hints.types.near_ref.max_per_session')).toMatchObject({
      line: 47,
      fate: expect.stringContaining('own default'),
    })
    expect(fateOf('hints.types.delta.enabled')?.fate).toContain('has no effect here')
    expect(fateOf('telemetry.enabled')?.fate).toContain('section [telemetry]')
    expect(fateOf('mckp.formats_enabled')?.fate).toContain('own default')
  })

  it('says what its list still switches off', () => {
    const text = SAVED.replace('"deep_mckp", "kv", ', '')
    const { warnings } = migrateFile('x', text, { keepsDefaults: false })
    expect(warnings).toEqual([expect.stringMatching(/formats_enabled: switches off tree: /)])
    expect(migrated(false).warnings).toEqual([])
  })

  it('of a file with faults is refused', () => {
    const migrate = (text: string) => () => migrateFile('x', text, { keepsDefaults: false })
    expect(migrate('[dedup]\nlru_sise = 3\n')).toThrow(ConfigError)
    expect(migrate('schema_version = 5\n')).toThrow('5 is of a later version')
    expect(migrate('[dedup')).toThrow(ConfigError)
  })
})

describe('config migrate --write', () => {
  it('leaves a copy of the file beside it, also the second time', () => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const folder = layersFolder()
    const file = folder.write('old.toml', SAVED)
    const options = { writes: true, keepsDefaults: false }
    expect(migrateConfig(file, options)).toBe(0)
    const once = readFileSync(file, 'utf8')
    expect(readFileSync(`${file}.before`, 'utf8')).toBe(SAVED)
    migrateConfig(file, options)
    expect(readFileSync(`${file}.before.1`, 'utf8')).toBe(once)
    expect(written.mock.calls.flat().join('')).toMatch(/old\.toml:3 +dedup\.lru_size +is left out/)
    written.mockRestore()
    expect(readdirSync(folder.path).toSorted()).toEqual([
      'old.toml',
      'old.toml.before',
      'old.toml.before.1',
    ])
  })
})
