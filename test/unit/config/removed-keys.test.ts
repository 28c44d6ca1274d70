import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { afterAll, expect, it } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { parseLayer } from '../../../src/config/layers/layer-file.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { REMOVED_KEYS } from '../../../src/config/removed-keys.ts'
import { pipelineSchema } from '../../../src/core/pipeline/profile/pipeline-config.ts'
import { leavesOf } from './knobs/leaves.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-removed-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SERVICE = Object.keys(configSchema.shape)
const all = Object.entries(REMOVED_KEYS)

/** A file of three lines above the removed key, which has its table and its line. */
function fileWith(key: string): string {
  const path = key.split('.').map(part => (part === '*' ? 'lines' : part))
  const name = path.pop()!
  const header = path.length === 0 ? '#\n' : `[${path.join('.')}]\n`
  return `# One\n# Two\n${header}${stringify({ [name]: 1 })}`
}

/** What is said of a file, as the service or the pipeline reads it. */
function faultsOf(key: string): string {
  const text = fileWith(key)
  const file = join(folder, 'test.toml')
  try {
    if (SERVICE.includes(key.split('.')[0]!)) {
      writeFileSync(file, text)
      loadConfig({ env: {}, file })
    } else {
      parseLayer(file, text, { name: 'file' })
    }
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

it.each(all)('%s is a fault with its line, and what is in its place: %s', (key, instead) => {
  const name = key.split('.').at(-1)
  const faults = faultsOf(key)
  expect(faults).toContain('test.toml: line 4: ')
  expect(faults).toContain(`${name} is no setting any more; ${instead}`)
})

it('no key is removed and there', () => {
  const keys = [configSchema, pipelineSchema].flatMap(leavesOf)
  expect(keys.filter(key => key in REMOVED_KEYS)).toEqual([])
})

it('names only keys that there are', () => {
  const named = all.flatMap(([, text]) => text.match(/\b[a-z_]+(?:\.(?:[a-z_]+|\*))+/g) ?? [])
  const keys = [configSchema, pipelineSchema].flatMap(leavesOf)
  const isThere = (name: string) => keys.some(key => key === name || key.startsWith(`${name}.`))
  const settings = named.filter(name => !name.endsWith('.toml'))
  expect(settings.filter(name => !isThere(name))).toEqual([])
})

it('a line is not named for what a variable says', () => {
  const file = join(folder, 'port.toml')
  writeFileSync(file, 'port = 1\n')
  const load = (env: Record<string, string>) => loadConfig({ env, file })
  expect(() => load({ HAVERSACK_PORT: 'x' })).toThrow(/\n {2}port \(HAVERSACK_PORT\): must be/)
})
