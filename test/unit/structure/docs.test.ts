import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ENV_KEYS } from '../../../src/config/env-keys.ts'
import { dialects } from '../../../src/core/dialects/lookup.ts'
import { VERSION } from '../../../src/runtime/version.ts'

const root = new URL('../../../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, root), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
}

/** What the modules of the product say. */
const sources = () => globSync('{src,workers}/**/*.ts', { cwd: root }).map(name => read(name))
/** The package of an import. */
const PACKAGE = /(?:from|import\(|require\() ?['"](?!node:)((?:@[\w-]+\/)?[a-z][\w-]+)/g

/** Every page that a reader may open: none can be forgotten in a list. */
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'SOURCES.md',
  ...globSync('docs/**/*.md', { cwd: root }).sort(),
]

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): ReadonlySet<string> {
  const prose = page.replaceAll(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '')
  return new Set(
    [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(/\s/g, '-'),
    ),
  )
}

const settings = globSync('{bench/**/*.ts,k8s/**/*.{toml,yaml},views/*.toml}', { cwd: root })
/** Each word in the code and in files of settings that has an underscore. */
const known = new Set(
  [...sources(), ...settings.map(name => read(name))].flatMap(text => text.match(/\w+_\w+/g) ?? []),
)

describe.each([...PAGES, 'bench/README.md'])('%s', name => {
  const text = read(name)

  it('names only files that exist', () => {
    const paths = [...text.matchAll(/`((?:src|workers|test|bench|demo|docs|scripts)\/[\w./-]*)`/g)]
    for (const [, path = ''] of paths) expect(existsSync(new URL(path, root)), path).toBe(true)
  })

  it('links only to files that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
    for (const [, link = ''] of links) {
      expect(existsSync(new URL(link, new URL(name, root))), link).toBe(true)
    }
  })

  it('links only to headings that exist', () => {
    for (const [, path = '', anchor] of text.matchAll(
      /\]\((?!https?:)([^)#\s]*\.md|)#([^)\s]+)\)/g,
    )) {
      const target = path === '' ? name : new URL(path, new URL(name, root))
      expect(anchorsOf(readFileSync(new URL(target, root), 'utf8')), `${path}#${anchor}`).toContain(
        anchor,
      )
    }
  })

  it('names only benches that exist', () => {
    for (const [, bench = ''] of text.matchAll(/npm run bench -- ([a-z][a-z-]*)/g)) {
      expect(existsSync(new URL(`bench/${bench}.ts`, root)), bench).toBe(true)
    }
  })

  it('sets only variables that the tests read', () => {
    const readers = read('test/support/runs.ts')
    for (const [, name = ''] of text.matchAll(/\b([A-Z][A-Z_]+)=\S+`?(?=\s(?:np[mx]|it)\s)/g)) {
      expect(readers, name).toContain(`process.env['${name}']`)
    }
  })

  it('names only limits and times that the code, or a file of settings, names too', () => {
    for (const [, key = ''] of text.matchAll(
      /`(?:[a-z_]+\.)*((?!haversack_)[a-z]+_[a-z_]*(?:ms|bytes))\b/g,
    )) {
      expect(known.has(key), key).toBe(true)
    }
  })

  it('names only npm scripts that exist', () => {
    for (const [, script = ''] of text.matchAll(/npm run (?:-\S+ )*([\w:-]+)/g)) {
      expect(Object.keys(manifest.scripts), script).toContain(script)
    }
  })
})

describe('docs/README.md', () => {
  const pages = globSync('docs/*/*.md', { cwd: root })

  it('lists every page once', () => {
    const listed = [
      ...read('docs/README.md').matchAll(/\]\(((?:guide|reference|internals)\/[^)]+)\)/g),
    ]
    expect(listed.map(([, page]) => `docs/${page}`).sort()).toEqual(pages.sort())
  })

  it('lists no more than a reader can keep track of', () => {
    expect(pages.length + 1).toBeLessThanOrEqual(30)
    const bytes = pages.reduce((sum, page) => sum + Buffer.byteLength(read(page)), 0)
    expect(bytes).toBeLessThanOrEqual(360 * 1024)
  })
})

describe('comments and settings', () => {
  const files = globSync('{src,workers,test,bench,scripts,k8s,plugin}/**/*.{ts,yaml,toml}', {
    cwd: root,
  })

  it('cite only pages and headings that exist', () => {
    const dead = [...files, 'config.example.toml', 'prices.toml'].flatMap(file =>
      [...read(file).matchAll(/docs\/(?:guide|reference|internals)\/[a-z-]+\.md(?:#[a-z-]+)?/g)]
        .map(([cited]) => cited.split('#'))
        .filter(([page = '', anchor]) => {
          if (!existsSync(new URL(page, root))) return true
          return anchor !== undefined && !anchorsOf(read(page)).has(anchor)
        })
        .map(cited => `${file}: ${cited.join('#')}`),
    )
    expect(dead).toEqual([])
  })
})

describe('docs/reference/configuration.md', () => {
  it('has every variable that sets a key', () => {
    const text = read('docs/reference/configuration.md')
    for (const { name } of ENV_KEYS) expect(text).toContain(`(${name})`)
  })
})

describe('docs/guide/operations.md', () => {
  const text = read('docs/guide/operations.md')
  it('has every metric of ours', () => {
    const files = globSync('src/observability/*.ts', { cwd: root })
    const source = files.map(read).join('')
    const names = [...source.matchAll(/'(haversack_[a-z_]+[a-z])'/g)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(25)
    for (const name of names) {
      if (name.endsWith('_limit') && name.includes('admitted')) continue
      expect(text, name).toContain(name)
    }
  })

  it('has a section for every alert', () => {
    const rules = read('k8s/components/monitoring/prometheusrule.yaml')
    const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name = '']) => name)
    expect(alerts.length).toBeGreaterThan(10)
    for (const name of alerts) expect(text).toContain(`### ${name}\n`)
  })
})

describe('docs/guide/proxies.md', () => {
  const text = read('docs/guide/proxies.md')
  const rows = text.split('\n').filter(line => line.startsWith('| '))

  it.each(dialects)('has the API $name, its host and its variable', dialect => {
    const { name, host = name, own, client } = dialect
    const row = rows.find(each => each.includes(`| \`${name}\` | \`http`)) ?? ''
    const [variable = name] = own?.variables ?? [client?.variable]
    for (const fact of [name, host, variable]) expect(own ? text : row).toContain(fact)
  })
})

describe('the package', () => {
  it('has the version that the program prints, and the change log begins with', () => {
    expect(VERSION).toBe(manifest.version)
    expect(read('CHANGELOG.md')).toContain(`## ${VERSION}`)
  })

  it('gives a reason for every package that is installed with it or put into it', () => {
    const imported = sources().flatMap(text => [...text.matchAll(PACKAGE)].map(([, name]) => name))
    const names = new Set([...Object.keys(manifest.dependencies), ...imported])
    expect(names).toContain('hono')
    for (const name of names) expect(read('CONTRIBUTING.md')).toContain(`| ${name} |`)
  })
})
