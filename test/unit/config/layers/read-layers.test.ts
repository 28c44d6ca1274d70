import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readAllLayers } from '../../../../src/config/layers/read-all.ts'
import { resolveProfile } from '../../../../src/core/pipeline/profile/resolve.ts'
import type { ProfileQuery } from '../../../../src/core/pipeline/profile/sections.ts'
import { Tuned } from '../../../../src/lab/versions/tuned.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { type LayersFolder, layersFolder, TUNED } from './layers-folder.ts'

const LOG = { tool: 'Bash', args: { command: 'git log --oneline' } }

const dedup = (folder: LayersFolder, query: ProfileQuery = LOG) =>
  resolveProfile(folder.read().pipeline, query).dedup

describe('layers', () => {
  it('take precedence in their order, key by key', () => {
    const folder = layersFolder()
    folder.write('tuned/acme.toml', `[dedup]\nlru_size = 2\nmin_body_chars = 2\n${TUNED}`)
    expect(dedup(folder)).toMatchObject({ lruSize: 2, minBodyChars: 2, near: true })
    folder.write('pipeline_config.toml', '[dedup]\nlru_size = 3\nnear_ref_enabled = false\n')
    expect(dedup(folder)).toMatchObject({ lruSize: 3, minBodyChars: 2, near: false })
    folder.write('tenants/acme.toml', '[dedup]\nnear_ref_enabled = true\n')
    expect(dedup(folder)).toMatchObject({ lruSize: 3, minBodyChars: 2, near: true })
    const project = folder.write('project.toml', '[dedup]\nlru_size = 5\n')
    const { pipeline } = folder.read({ tenant: 'acme', project })
    expect(resolveProfile(pipeline, LOG).dedup).toMatchObject({ lruSize: 5, near: true })
  })

  it('come before names: a section of a later layer wins over a name of an earlier one', () => {
    const folder = layersFolder()
    folder.write(
      'tuned/acme.toml',
      `[endpoint_overrides.Bash]\nlru_size = 2\nmin_body_chars = 2\n${TUNED}`,
    )
    folder.write('pipeline_config.toml', '[dedup]\nlru_size = 3\n')
    expect(dedup(folder)).toMatchObject({ lruSize: 3, minBodyChars: 2 })
    folder.write('pipeline_config.toml', '[endpoint_overrides."*"]\nmin_body_chars = 7\n')
    expect(dedup(folder)).toMatchObject({ lruSize: 2, minBodyChars: 7 })
  })

  it('of a later class win over those of an earlier tool, for this class alone', () => {
    const folder = layersFolder()
    folder.write('pipeline_config.toml', '[endpoint_overrides.Bash]\nlru_size = 2\n')
    folder.write('tenants/acme.toml', '[endpoint_overrides.git_log]\nlru_size = 3\n')
    expect(dedup(folder).lruSize).toBe(3)
    expect(dedup(folder, { tool: 'Bash', args: { command: 'ls' } }).lruSize).toBe(2)
  })

  it('have a built-in agent where they make it active', () => {
    const folder = layersFolder()
    folder.write('pipeline_config.toml', '[profiles.agent]\nactive = "marathon_refactor"\n')
    folder.write('tenants/acme.toml', '[mckp]\nrecursion_depth = 3\n')
    expect(dedup(folder).near).toBe(true)
    folder.write('tenants/acme.toml', '[dedup]\nnear_ref_enabled = false\n')
    expect(dedup(folder).near).toBe(false)
  })

  it('lay the levels of views and the values of fields over each other', () => {
    const folder = layersFolder()
    folder.write(
      'pipeline_config.toml',
      '[views]\nlevel = "compact"\n[views.levels]\nRead = "standard"\n[endpoint_overrides."*".field_values]\na = 1\nb = 1\n',
    )
    folder.write(
      'tenants/acme.toml',
      '[endpoint_overrides.Bash.field_values]\nb = 2\n[[views.pressure]]\nfrom_tokens = 100\nlevel = "full"\n',
    )
    const { pipeline } = folder.read()
    const { budget, view } = resolveProfile(pipeline, LOG)
    expect([...budget.fields]).toEqual([
      ['a', 1],
      ['b', 2],
    ])
    const levels = [{ tool: 'Read' }, { tool: 'Read', context_tokens: 100 }].map(
      query => resolveProfile(pipeline, query).view.level,
    )
    expect([view.level, ...levels]).toEqual(['compact', 'standard', 'full'])
  })

  it('elide, or place breakpoints, where a caller wants it and no file says otherwise', () => {
    const folder = layersFolder()
    const wanted = { elides: true, placesBreakpoints: true } as const
    const { generation } = folder.read()
    const read = folder.read(undefined, wanted)
    expect(read.generation).not.toBe(generation)
    expect([read.pipeline.elision.in_proxies, read.pipeline.cache_life.place]).toEqual([true, true])
    folder.write(
      'pipeline_config.toml',
      '[elision]\nin_proxies = false\n[cache_life]\nplace = false\n',
    )
    const { elision, cache_life } = folder.read(undefined, wanted).pipeline
    expect([elision.in_proxies, cache_life.place]).toEqual([false, false])
  })

  it('are one tenant’s alone', () => {
    const folder = layersFolder()
    folder.write('tuned/other.toml', `[dedup]\nlru_size = 2\n${TUNED}`)
    folder.write('tenants/other.toml', '[dedup]\nmin_body_chars = 1\n')
    expect(dedup(folder)).toMatchObject({ lruSize: 16, minBodyChars: 200 })
    for (const tenant of ['../acme', '', 'a/b', '.hidden']) {
      expect(folder.faults({ tenant })).toEqual([`${JSON.stringify(tenant)} is no tenant`])
    }
  })

  it('names what replaces a key of an earlier version', () => {
    const folder = layersFolder()
    folder.write('pipeline_config.toml', '[dedup]\nlines_min_saved_tokens = 4\n')
    expect(folder.faults({})).toEqual([
      'pipeline_config.toml: line 2: dedup.lines_min_saved_tokens: ' +
        'lines_min_saved_tokens is no setting any more; reading.prices has the price of a reference',
    ])
  })

  it('have every fault named at once, with file and line', () => {
    const folder = layersFolder()
    folder.write('pipeline_config.toml', '[dedup]\n\nlru_sise = 3\n')
    folder.write('tenants/acme.toml', 'schema_version = 9\n[profiles.agent]\nactive = "mine"\n')
    const project = folder.write('project.toml', '[dedup\n')
    const faults = folder.faults({ tenant: 'acme', project })
    expect(faults).toEqual([
      'pipeline_config.toml: line 3: dedup.lru_sise: lru_sise is no setting; did you mean lru_size?',
      'tenants/acme.toml: line 1: schema_version: 9 is of a later version; this version reads 1 to 4',
      expect.stringMatching(/^project\.toml: line 1: /),
    ])
  })

  it('have the agent that tune wrote, or the default one, if it is to be found', () => {
    const folder = layersFolder()
    const active = () => folder.read().pipeline.profiles.agent.active
    folder.write('pipeline_config.toml', '[profiles.agent]\nactive = "auto"\n')
    expect(active()).toBe('default')
    const tuned = new Tuned(folder.path, 'acme')
    const key = ['profiles', 'agent', 'active']
    const terms = { inputs: '', generation: '0'.repeat(16), now: new Date(0) }
    tuned.apply([{ key, to: 'file_search_heavy', rule: 'P2', evidence: '' }], terms)
    expect(active()).toBe('file_search_heavy')
    folder.write('tenants/acme.toml', '[profiles.agent]\nactive = "marathon_refactor"\n')
    expect(active()).toBe('marathon_refactor')
    folder.write('tenants/acme.toml', '[profiles.agent]\nactive = "auto"\n')
    folder.write('pipeline_config.toml', '[profiles.agent]\nactive = "default"\n')
    expect(active()).toBe('file_search_heavy')
  })

  it('may name a variant that another layer has', () => {
    const folder = layersFolder()
    folder.write('pipeline_config.toml', '[profiles.agent.variants.mine]\nrecursion_depth = 2\n')
    folder.write('tenants/acme.toml', '[profiles.agent]\nactive = "mine"\n')
    expect(folder.read().pipeline.profiles.agent.active).toBe('mine')
    folder.write('pipeline_config.toml', '')
    expect(folder.faults()).toEqual([
      expect.stringMatching(
        /^tenants\/acme\.toml: line 2: profiles\.agent\.active: no such variant/,
      ),
    ])
  })

  it('of the versions 1 to 4 are read alike', () => {
    const generations = [1, 2, 3, 4].map(version => {
      const folder = layersFolder()
      folder.write('pipeline_config.toml', `schema_version = ${version}\n[dedup]\nlru_size = 5\n`)
      return folder.read().pipeline
    })
    for (const pipeline of generations) expect(pipeline).toEqual(generations[0])
    expect(generations[0]?.schema_version).toBe(4)
  })

  it('may have any names', () => {
    const folder = layersFolder()
    const names = ['constructor', '__proto__', 'git_log', 'no_such_class', '*']
    const text = names.map((name, at) => `["endpoint_overrides"."${name}"]\nlru_size = ${at + 1}\n`)
    folder.write('pipeline_config.toml', text.join(''))
    folder.write('tenants/acme.toml', '[endpoint_overrides.constructor]\nmin_body_chars = 9\n')
    const sizes = ['constructor', 'git_log', 'toString'].map(
      tool => dedup(folder, { tool }).lruSize,
    )
    expect(sizes).toEqual([1, 3, 5])
    expect(dedup(folder, { tool: 'constructor' }).minBodyChars).toBe(9)
    folder.write('pipeline_config.toml', '[endpoint_overrides."**"]\nlru_size = 3\n')
    expect(folder.faults()).toEqual([
      expect.stringContaining('a * stands at the end of a name only'),
    ])
  })
})

describe('a file of many or of wrong values', () => {
  it('may have thousands of overrides, of which each is found, and each fault has its line', () => {
    const count = FULL_RUNS ? 10_000 : 2_000
    const folder = layersFolder()
    const text = Array.from({ length: count }, (_, n) => {
      const name = n % 2 === 0 ? `t${n}` : `"t${n}*"`
      return `[endpoint_overrides.${name}]\nmin_body_chars = ${n}\n`
    }).join('')
    folder.write('pipeline_config.toml', text)
    const { pipeline } = folder.read()
    const leastOf = (tool: string) => resolveProfile(pipeline, { tool }).dedup.minBodyChars
    expect(['t0', `t${count - 2}`, `t${count - 1}_x`, 'none'].map(leastOf)).toEqual([
      ...[0, count - 2, count - 1, 200],
    ])
    folder.write('pipeline_config.toml', text.replaceAll(' = ', ' = -1'))
    const faults = folder.faults()
    expect(faults).toHaveLength(count)
    const last = `line ${2 * count}: endpoint_overrides."t${count - 1}*".min_body_chars: `
    expect(faults.at(-1)).toContain(last)
  })

  it.each([
    ['holdout', '1.5'],
    ['holdout', '-0.1'],
    ['explore', 'nan'],
    ['explore', 'inf'],
    ['holdout', '"0.1"'],
  ])('names file, line and key of arms.%s = %s, and what fits', (name, value) => {
    const folder = layersFolder()
    folder.write('pipeline_config.toml', `[arms]\n${name} = ${value}\n`)
    const [fault, ...others] = folder.faults()
    expect(others).toEqual([])
    expect(fault).toMatch(new RegExp(`^pipeline_config\\.toml: line 2: arms\\.${name}: .`))
    for (const fits of ['0', '0.05', '1']) {
      folder.write('pipeline_config.toml', `[arms]\n${name} = ${fits}\n`)
      expect(folder.read().pipeline.arms).toMatchObject({ [name]: Number(fits) })
    }
  })
})

describe('the generation', () => {
  const generation = (files: Readonly<Record<string, string>>, tenant = 'acme') => {
    const folder = layersFolder()
    for (const [name, text] of Object.entries(files)) folder.write(name, text)
    return folder.read({ tenant }).generation
  }

  it('names what the layers say, and not how their files are written', () => {
    const one = generation({ 'pipeline_config.toml': '[dedup]\nlru_size = 3\n' })
    expect(one).toMatch(/^[0-9a-f]{16}$/)
    expect(generation({ 'pipeline_config.toml': '# three\n[dedup]\nlru_size=3' })).toBe(one)
    expect(generation({ 'pipeline_config.toml': '[dedup]\nlru_size = 4\n' })).not.toBe(one)
    expect(generation({ 'tenants/acme.toml': '[dedup]\nlru_size = 3\n' })).not.toBe(one)
  })
})

describe('a tuned file', () => {
  const tuned = (text: string) => {
    const folder = layersFolder()
    folder.write('tuned/acme.toml', text)
    return folder
  }
  const CHANGE = `[[tuned.changes]]
key = "endpoint_overrides.git_log.lru_size"
rule = "R1"
evidence = "1,204 results, p90 of bursts 3"
date = "2026-11-20"
`
  const WHOLE = `[endpoint_overrides.git_log]\nlru_size = 8\n${TUNED}${CHANGE}`

  it('is in force as it was written', () => {
    const folder = tuned(WHOLE)
    expect([dedup(folder).lruSize, folder.tunedFaults()]).toEqual([8, []])
  })

  it.each([
    ['torn', WHOLE.slice(0, 40), /line 2: Invalid TOML|line \d/],
    ['torn at its end', WHOLE.slice(0, -20), /line \d+/],
    ['empty', '', /tuned: must be a table/],
    ['without its table', '[dedup]\nlru_size = 8\n', /tuned: must be a table/],
    ['with a key that is none', `colour = 1\n${WHOLE}`, /line 1: colour: colour is no setting/],
    ['with a value that is none', WHOLE.replace('= 8', '= 0'), /lru_size: must be above 0/],
    [
      'with a reason for nothing',
      WHOLE.replace('= 8', '= 8 # 8').replace('lru_size"', 'x"'),
      /is no key/,
    ],
    ['of another tenant', WHOLE.replace('[tuned]', '[tuned]\ntenant = "other"'), /tuned\.tenant/],
    ['of a later version', `schema_version = 5\n${WHOLE}`, /5 is of a later version/],
    [
      'with more than a line of evidence',
      WHOLE.replace('1,204 results', '\\n'),
      /must be one line/,
    ],
  ])('%s has no effect, and it is said why', (_, text, reason) => {
    const folder = tuned(text)
    folder.write('pipeline_config.toml', '[dedup]\nmin_body_chars = 300\n')
    expect(dedup(folder)).toMatchObject({ lruSize: 16, minBodyChars: 300 })
    expect(folder.tunedFaults().join('\n')).toMatch(reason)
  })

  it('that cannot be read has no effect either', () => {
    const folder = layersFolder()
    folder.write('tuned/acme.toml/x', '')
    expect(dedup(folder).lruSize).toBe(16)
    expect(folder.tunedFaults()).toEqual(['tuned/acme.toml: cannot be read'])
    symlinkSync(join(folder.path, 'nowhere'), join(folder.path, 'tuned/other.toml'))
    expect(folder.read({ tenant: 'other' }).tunedFaults).toEqual([])
  })

  it('of a tenant that is named like a member of every object has no effect either', () => {
    const folder = layersFolder()
    folder.write('tuned/constructor.toml', 'colour = 1\n')
    const { tunedFaults } = readAllLayers({ data_dir: folder.path })
    expect(tunedFaults['constructor']).toContainEqual(expect.stringContaining('line 1: colour'))
  })
})

describe('the file of a repository', () => {
  it.each([
    ['[elision]\nenabled = true\n', 'line 2: elision.enabled: can only be switched off'],
    ['[elision]\nmin_block_bytes = 1\n', 'elision.min_block_bytes: is not for'],
    ['[elision]\nredeem_tools = ["x"]\n', 'elision.redeem_tools: is not for'],
    ['[hints]\nenabled = true\n', 'hints.enabled: can only be switched off'],
    ['[hints.types.elision]\nenabled = true\n', 'hints.types.elision.enabled: can only be'],
    ['[hints.types.elision]\napplies_to_models = ["*"]\n', 'applies_to_models: is not for'],
    ['[endpoint_overrides."*"]\nelision_enabled = true\n', 'elision_enabled: can only be'],
    ['[endpoint_overrides.Read]\nmax_ratio = 1.0\n', 'max_ratio: is not for'],
    ['[endpoint_overrides.Read]\nmax_result_tokens = 9\n', 'max_result_tokens: is not for'],
    ['[profiles.agent]\nactive = "default"\n', 'profiles.agent.active: is not for'],
    ['[views]\nfiles = ["/etc/passwd"]\n', 'views.files: is not for'],
    ['[clearing]\nenabled = true\n', 'clearing.enabled: is not for'],
    ['[format_pipeline]\nalgorithm = "auto"\n', 'format_pipeline.algorithm: is not for'],
  ])('cannot say %j', (text, fault) => {
    const folder = layersFolder()
    const project = folder.write('project.toml', text)
    expect(folder.faults({ project })).toEqual([expect.stringContaining(fault)])
  })

  it('may switch elision off, and the rest of its keys', () => {
    const folder = layersFolder()
    const project = folder.write(
      'project.toml',
      `schema_version = 4
      elision.enabled = false
      hints.types.elision.enabled = false
      dedup.lru_size = 5
      mckp.recursion_depth = 3
      templates.active = []
      profiles.data.variants.a = { endpoint_pattern = "a", hint_set = ["lines"] }
      endpoint_overrides.Read = { elision_enabled = false, lru_size = 3 }
      `,
    )
    const { pipeline } = folder.read({ project })
    expect(resolveProfile(pipeline, { tool: 'Read' })).toMatchObject({
      elision: { enabled: false },
      dedup: { lruSize: 3 },
    })
  })

  it('the file of a repository is bounded in size', () => {
    const folder = layersFolder()
    const project = folder.write('project.toml', `# ${'x'.repeat(10_000_000)}`)
    expect(folder.faults({ project })).toEqual([
      'project.toml: has 10000002 bytes; 65536 are allowed',
    ])
  })
})
