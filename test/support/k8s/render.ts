import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'
import type { Manifest } from './manifest.ts'

const K8S = fileURLToPath(new URL('../../../k8s', import.meta.url))

/** The objects of a folder of `k8s/`, such as `overlays/single`, as a cluster would get them. */
export function render(folder: string): Manifest[] {
  return kustomize(join(K8S, folder))
}

/** The base with these components, such as `tracing`, and nothing else. */
export function renderWith(...components: string[]): Manifest[] {
  // kustomize takes relative paths only, and follows no link to get there.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'haversack-k8s-')))
  try {
    const path = (name: string) => relative(folder, join(realpathSync(K8S), name))
    const kustomization = {
      resources: [path('base')],
      components: components.map(name => path(`components/${name}`)),
    }
    writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization))
    return kustomize(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function kustomize(folder: string): Manifest[] {
  const { error, status, stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], {
    encoding: 'utf8',
  })
  if (error !== undefined) {
    throw new Error(`the tests of k8s/ need kubectl on the PATH (${error.message})`)
  }
  if (status !== 0) throw new Error(`kubectl kustomize ${folder}: ${stderr}`)
  if (stderr !== '') throw new Error(`kubectl kustomize ${folder} warns: ${stderr}`)
  return parseAllDocuments(stdout).map(document => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS() as Manifest
  })
}
