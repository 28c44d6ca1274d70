import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/version.ts'

const root = new URL('../../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, root), 'utf8')
const manifest = JSON.parse(read('package.json')) as {
  version: string
  scripts: Record<string, string>
  dependencies: Record<string, string>
}

const DOCS = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'docs/formats.md',
  'docs/tokens.md',
  'bench/README.md',
]

describe.each(DOCS)('%s', name => {
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

  it('names only npm scripts that exist', () => {
    for (const [, script = ''] of text.matchAll(/npm run (?:-\S+ )*([\w:-]+)/g)) {
      expect(Object.keys(manifest.scripts), script).toContain(script)
    }
  })
})

describe('the package', () => {
  it('has the version that the program prints, and the change log begins with', () => {
    expect(VERSION).toBe(manifest.version)
    expect(read('CHANGELOG.md')).toContain(`## ${VERSION}`)
  })

  it('gives a reason for every runtime dependency', () => {
    for (const name of Object.keys(manifest.dependencies)) {
      expect(read('CONTRIBUTING.md')).toContain(`| ${name} |`)
    }
  })
})
