import { describe, expect, it } from 'vitest'
import { explanationLines } from '../../../../src/cli/config/command.ts'
import { explainCall, explainLayers } from '../../../../src/config/layers/explain-layers.ts'
import { layersFolder, TUNED } from './layers-folder.ts'

function folderWithLayers() {
  const folder = layersFolder()
  folder.write(
    'tuned/acme.toml',
    `[endpoint_overrides.git_log]
lru_size = 8
elision_enabled = false
${TUNED}[[tuned.changes]]
key = "endpoint_overrides.git_log.lru_size"
rule = "R1"
evidence = "40 of 100 results"
date = "2026-11-20"
`,
  )
  folder.write(
    'pipeline_config.toml',
    '[dedup]\nlru_size = 5\n[dedup.enabled_per_endpoint]\nX = false\n',
  )
  folder.write('tenants/acme.toml', '\n[endpoint_overrides."git_*"]\nlru_size = 3\n')
  return folder
}

describe('each key', () => {
  it('has its value in force with layer, file and line, and those that lose', () => {
    const folder = folderWithLayers()
    const keys = explainLayers(folder.read())
    const find = (key: string) => keys.find(each => each.key === key)
    expect(find('dedup.lru_size')).toEqual({
      key: 'dedup.lru_size',
      value: 5,
      layer: 'file',
      file: `${folder.path}/pipeline_config.toml`,
      line: 2,
      losing: [{ key: 'dedup.lru_size', value: 16, layer: 'built-in' }],
    })
    expect(find('endpoint_overrides.git_log.lru_size')).toMatchObject({
      layer: 'tuned',
      tuned: { rule: 'R1', evidence: '40 of 100 results', date: '2026-11-20' },
    })
    expect(find('endpoint_overrides.git_log.elision_enabled')?.tuned).toBeUndefined()
    expect(find('mckp.recursion_depth')).toMatchObject({ layer: 'built-in', losing: [] })
    expect(find('endpoint_overrides."git_*".lru_size')?.line).toBe(3)
  })

  it('of a call is found by name and layer', () => {
    const folder = folderWithLayers()
    const keys = explainCall(folder.read(), { tool: 'Bash', args: { command: 'git log' } })
    const lru = keys.find(({ key }) => key === 'lru_size')
    expect(lru).toMatchObject({
      value: 3,
      layer: 'tenant',
      from: 'endpoint_overrides."git_*".lru_size',
      losing: [
        { value: 5, layer: 'file', key: 'dedup.lru_size', line: 2 },
        { value: 8, layer: 'tuned', key: 'endpoint_overrides.git_log.lru_size' },
        { value: 16, layer: 'built-in', key: 'dedup.lru_size' },
      ],
    })
    const ofX = explainCall(folder.read(), { tool: 'X' }).find(each => each.key === 'dedup_enabled')
    expect(ofX).toMatchObject({ value: false, from: 'dedup.enabled_per_endpoint.X', line: 4 })
  })

  it('of one file alone is as well told from the defaults', () => {
    const folder = layersFolder()
    folder.write('pipeline_config.toml', '[dedup]\nlru_size = 5\n')
    const keys = explainCall(folder.read(), { tool: 'X' })
    const layers = ['lru_size', 'min_body_chars'].map(
      name => keys.find(({ key }) => key === name)?.layer,
    )
    expect(layers).toEqual(['file', 'built-in'])
  })

  it('is a line, with a line for each value that loses', () => {
    const folder = folderWithLayers()
    const keys = explainCall(folder.read(), { tool: 'Bash', args: { command: 'git log' } })
    const lines = explanationLines(keys).map(line => line.replaceAll(`${folder.path}/`, ''))
    const at = lines.findIndex(line => line.startsWith('lru_size = 3'))
    expect(lines.slice(at, at + 3).map(line => line.replaceAll(/ +/g, ' '))).toEqual([
      'lru_size = 3 tenant endpoint_overrides."git_*".lru_size tenants/acme.toml:3',
      ' not 5 file dedup.lru_size pipeline_config.toml:2',
      ' not 8 tuned endpoint_overrides.git_log.lru_size tuned/acme.toml:2 ' +
        '(R1, 2026-11-20: 40 of 100 results)',
    ])
  })
})
