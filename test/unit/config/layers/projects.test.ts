import { describe, expect, it } from 'vitest'
import { readAllLayers, readWritten } from '../../../../src/config/layers/read-all.ts'
import { layersFolder } from './layers-folder.ts'

const lru = (size: number) => `[dedup]\nlru_size = ${size}\n`

describe('the files of projects', () => {
  it('are a layer after the tenant’s, each for its own project', () => {
    const folder = layersFolder()
    folder.write('tenants/acme.toml', `${lru(5)}min_body_chars = 300\n`)
    folder.write('projects/acme/web.toml', `${lru(7)}[elision]\nenabled = true\n`)
    folder.write('projects/acme/api.toml', lru(9))
    folder.write('projects/other/web.toml', lru(11))
    folder.write('projects/acme/.hidden.toml', lru(13))
    folder.write('projects/acme/notes.txt', 'none')
    const { tenants, projects, common } = readAllLayers({ data_dir: folder.path })
    expect(Object.keys(projects).sort()).toEqual(['acme/api', 'acme/web', 'other/web'])
    const sizeOf = (name: string) => readWritten(projects[name]!).dedup
    expect(sizeOf('acme/web')).toMatchObject({ lru_size: 7, min_body_chars: 300 })
    expect(sizeOf('acme/api')).toMatchObject({ lru_size: 9, min_body_chars: 300 })
    expect(sizeOf('other/web')).toMatchObject({ lru_size: 11, min_body_chars: 200 })
    // A tenant that has projects alone has the common configuration beside them.
    expect(tenants['other']!.id).toBe(common.id)
    const ids = [common, ...Object.values(tenants), ...Object.values(projects)].map(({ id }) => id)
    expect(new Set(ids).size).toBe(5)
  })

  it('are none where no folder is', () => {
    const folder = layersFolder()
    folder.write('tenants/acme.toml', lru(5))
    folder.write('projects/acme', 'a file')
    expect(readAllLayers({ data_dir: folder.path }).projects).toEqual({})
  })

  it('have their faults named like all others', () => {
    const folder = layersFolder()
    folder.write('projects/acme/web.toml', 'lru = 1\n')
    expect(() => readAllLayers({ data_dir: folder.path })).toThrow(/web\.toml: line 1: lru/)
  })
})
