import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'

const PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//

/**
 * The licences of the packages that modules are from, one after the other.
 * @param modules absolute paths
 * @throws Error for a package without a licence
 */
export function thirdPartyLicenses(modules: Iterable<string>): string {
  const folders = new Map<string, string>()
  for (const module of modules) {
    const [, folder, name] = PACKAGE.exec(module) ?? []
    if (folder !== undefined && name !== undefined) folders.set(folder, name)
  }
  const parts = [...folders]
    .map(([folder, name]) => ({ folder, name }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ folder, name }) => {
      const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      return `${name} ${version} (${license})\n\n${licenseIn(folder) ?? nameOnly(name, license)}`
    })
  return `${parts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

function licenseIn(folder: string): string | undefined {
  const [file] = globSync('{LICENSE,LICENCE,License,license}*', { cwd: folder })
  return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim()
}

/** Some packages name a licence and bring no text of it. */
function nameOnly(name: string, license: unknown): string {
  if (typeof license !== 'string') throw new Error(`${name} has no licence`)
  return `The package names this licence and has no text of it: ${license}.`
}
