import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'

interface Job {
  readonly needs?: string | readonly string[]
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: { readonly os: readonly string[] } }
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[]
}
interface Workflow {
  readonly on: unknown
  readonly permissions: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const root = new URL('../../', import.meta.url)
const folder = new URL('.github/workflows/', root)
const read = (name: string) => parse(readFileSync(new URL(name, folder), 'utf8')) as Workflow
const all = readdirSync(folder).map(name => [name, read(name)] as const)
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))

it.each(all)(
  '%s runs scripts that there are, and may only read unless a job says so',
  (_, each) => {
    expect(each.permissions).toEqual({ contents: 'read' })
    const commands = Object.values(each.jobs).flatMap(({ steps }) =>
      steps.map(({ run = '' }) => run),
    )
    for (const command of commands) {
      for (const [, name = ''] of command.matchAll(/npm run (?:--?\S+ )*([\w:-]+)/g)) {
        expect(scripts).toHaveProperty([name])
      }
      for (const [path] of command.matchAll(/^\.ci\/\w+/gm)) {
        expect(existsSync(new URL(path, root)), path).toBe(true)
      }
    }
  },
)

it('installs the command on three systems, starts it by its name, and removes it', () => {
  const { strategy, steps } = read('ci.yml').jobs['first-saving']!
  expect(strategy?.matrix.os.map(each => each.split('-')[0])).toEqual([
    'ubuntu',
    'windows',
    'macos',
  ])
  const runs = steps.map(({ run = '' }) => run)
  const installed = runs.slice(runs.indexOf('npm run install:user') + 1)
  expect(installed[0]).toContain('.local')
  expect(installed.slice(1)).toEqual([
    'haversack --version',
    'haversack gain',
    'haversack uninstall --yes',
  ])
})

it('releases nothing that was not checked, and publishes what was packed', () => {
  const { on, jobs } = read('release.yml')
  expect(on).toEqual({ push: { tags: ['v*'] } })
  const runs = (name: string) => jobs[name]!.steps.map(({ run }) => run ?? '').join('\n')
  expect(runs('check')).toContain('.ci/run')
  const checked = new Set(['check'])
  for (const [name, { needs = [] }] of Object.entries(jobs)) {
    if ([needs].flat().some(each => checked.has(each))) checked.add(name)
    expect(checked, name).toContain(name)
  }
  expect(runs('npm')).toMatch(/sha256sum --check .*\nnpm publish \S+\.tgz --provenance/)
  expect(Object.entries(jobs).filter(([, job]) => job.permissions?.['id-token'])).toHaveLength(1)
  expect(jobs['npm']!.steps.some(({ uses }) => uses?.startsWith('actions/checkout'))).toBe(false)
  expect(runs('image')).toContain('npm run --silent build:image -- --image ')
})
