import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../../src/config/pipeline.ts'
import { readViewFile } from '../../../src/config/views.ts'

const folder = mkdtempSync(join(tmpdir(), 'views-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const VIEW = '[[view]]\nname = "boats"\nhas = ["oars"]\n'

describe('a fault of a file of views', () => {
  it.each<[string, string, RegExp]>([
    ['no TOML', 'a = [', /line 1:/],
    ['a key that is there twice', `${VIEW}has = ["a"]`, /line 4:/],
    ['an unknown key', `${VIEW}rename = "x"`, /line 4: view\.0\.rename: no such key/],
    [
      'a rule without operation',
      `${VIEW}\n[[view.standard]]\n`,
      /line 5: view\.0\.standard\.0: has no operation/,
    ],
    [
      'a rule that drops everything',
      `${VIEW}[[view.standard]]\ndrop = ["a", "**"]`,
      /line 5: view\.0\.standard\.0\.drop\.1: drops everything/,
    ],
    [
      'the same in other words',
      `${VIEW}[[view.compact]]\ndrop = ["**.*"]`,
      /line 5: .*drops everything/,
    ],
    ['the second of two views', `${VIEW}${VIEW}enabled = "no"`, /line 7: view\.1\.enabled/],
    ['an empty step', `${VIEW}[[view.standard]]\nkeep = ["a..b"]`, /line 5: .*has an empty step/],
    ['a wrong type', '[[view]]\nname = 5\nhas = ["a"]', /line 2: view\.0\.name/],
    ['__proto__', `${VIEW}[view.__proto__]\nx = 1`, /line 4: view\.0\.__proto__: no such key/],
    [
      '10,000 rules',
      VIEW + '[[view.standard]]\ndrop = ["x"]\n'.repeat(10_000),
      /view\.0\.standard/,
    ],
    [
      'a glob that is too long',
      `${VIEW}[[view.standard]]\ndrop = ["${'*a'.repeat(200)}"]`,
      /line 5:/,
    ],
    ['another version', 'schema_version = 2\nview = []', /line 1: schema_version/],
  ])('names file, line and key: %s', (name, text, fault) => {
    const file = write('faulty.toml', text)
    expect(() => readViewFile(file), name).toThrow(fault)
    expect(() => readViewFile(file), name).toThrow(file)
  })

  it('is also a file that is not there', () => {
    expect(() => readViewFile(join(folder, 'none.toml'))).toThrow(/none\.toml: cannot be read/)
  })
})

describe('the views of a configuration', () => {
  const pipelineOf = (text: string) =>
    readPipelineConfig({ data_dir: folder, pipeline_config_file: write('pipeline.toml', text) })
  const namesOf = (text: string) => pipelineOf(text).knownViews?.map(({ name }) => name) ?? []

  it('are those of its files, named from its folder, before those that are built in', () => {
    write('own.toml', `${VIEW}[[view.standard]]\ndrop = ["oars.length"]`)
    expect(namesOf('[views]\nfiles = ["own.toml"]').slice(0, 2)).toEqual(['boats', 'api-links'])
    expect(namesOf('')).not.toContain('boats')
  })

  it('replace those of the same name', () => {
    write('own.toml', VIEW.replace('boats', 'github'))
    const views = pipelineOf('[views]\nfiles = ["own.toml"]').knownViews!
    expect(views.filter(({ name }) => name === 'github').map(({ has }) => has)).toEqual([['oars']])
  })

  it('switch one that is built in off by its name', () => {
    write('own.toml', `${VIEW.replace('boats', 'github')}enabled = false`)
    expect(namesOf('')).toContain('github')
    expect(namesOf('[views]\nfiles = ["own.toml"]')).not.toContain('github')
  })
})
