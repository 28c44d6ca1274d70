import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { layersInProject, layersOfService } from '../../../../src/config/layers/project-file.ts'
import { readLayers } from '../../../../src/config/layers/read-layers.ts'
import { layersFolder } from './layers-folder.ts'

const FILE = '.haversack/pipeline_config.toml'
const ELIDES = '[elision]\nenabled = true\n'

/** A repository in a folder that has a file of its own above it. */
function repository() {
  const folder = layersFolder()
  folder.write('repository/.git/HEAD', '')
  mkdirSync(join(folder.path, 'repository/src/deep'), { recursive: true })
  folder.write(FILE, '[dedup]\nlru_size = 99\n')
  const at = (path: string) => join(folder.path, 'repository', path)
  const place = { data_dir: join(folder.path, 'data') }
  return { folder, at, find: (from = 'src/deep', of = place) => layersInProject(of, at(from)) }
}

describe('the file of a project', () => {
  it('is looked for upward, to the root of the repository', () => {
    const { folder, at, find } = repository()
    expect(find().project).toBeUndefined()
    const file = folder.write(`repository/${FILE}`, '')
    expect([find().project, find('').project]).toEqual([file, file])
    const nearer = folder.write(`repository/src/${FILE}`, '')
    expect(find().project).toBe(nearer)
    // Outside of a repository there are no projects.
    const outside = { data_dir: at('../data') }
    expect(layersInProject(outside, folder.path)).toBe(outside)
  })

  it('cannot lead out of the repository', () => {
    const { folder, at, find } = repository()
    mkdirSync(at('.haversack'))
    symlinkSync(join(folder.path, FILE), at(FILE))
    expect(() => find()).toThrow('leads out of the repository')
  })

  it('may be a link inside of it', () => {
    const { folder, at, find } = repository()
    const target = folder.write('repository/pipeline.toml', '[dedup]\nlru_size = 3\n')
    mkdirSync(at('.haversack'))
    symlinkSync(target, at(FILE))
    expect(readLayers(find()).pipeline.dedup.lru_size).toBe(3)
  })

  it('in a data folder that is named from the working folder is trusted as little', () => {
    const { folder, at, find } = repository()
    folder.write(`repository/${FILE}`, ELIDES)
    for (const data_dir of ['.haversack', './.haversack/', '../repository/.haversack']) {
      const named = layersOfService({ data_dir }, at(''))
      expect(named).toEqual({ data_dir, isOfRepository: true })
      expect(find('', { data_dir })).toEqual(named)
      const placed = { ...named, data_dir: join(folder.path, 'repository/.haversack') }
      expect(() => readLayers(placed)).toThrow('can only be switched off')
    }
    // A folder that is named as such, and one outside of repositories, are the user's.
    for (const data_dir of [at('.haversack'), '../data']) {
      expect(layersOfService({ data_dir }, at(''))).toEqual({ data_dir })
    }
    // The user's own files stay the user's.
    folder.write('data/pipeline_config.toml', ELIDES)
    expect(() => readLayers(find(''))).toThrow('can only be switched off')
    expect(readLayers({ data_dir: join(folder.path, 'data') }).pipeline.elision.enabled).toBe(true)
  })

  it('nor can files of tenants and of tune in that folder say more', () => {
    const { folder } = repository()
    folder.write('data/tenants/local.toml', ELIDES)
    const place = { data_dir: join(folder.path, 'data'), isOfRepository: true }
    expect(() => readLayers(place, { tenant: 'local' })).toThrow('can only be switched off')
  })
})
