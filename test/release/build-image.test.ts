import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SCRIPT = join(ROOT, 'scripts/build-image.ts')
const OVERLAY = 'k8s/overlays/production/kustomization.yaml'
const BASE_DIGEST = `sha256:${'a'.repeat(64)}`
const DIGEST = `sha256:${'b'.repeat(64)}`

/**
 * Stands in for Docker, which tests do not have: notes how it was called, and answers as it would.
 */
const DOCKER = `#!/usr/bin/env node
const { appendFileSync, writeFileSync } = require('node:fs')
const args = process.argv.slice(2)
appendFileSync(process.env.CALLS, JSON.stringify(args) + '\\n')
const text = args.join(' ')
if (text.includes('build --push')) {
  const file = args[args.indexOf('--metadata-file') + 1]
  writeFileSync(file, JSON.stringify({ 'containerimage.digest': process.env.DIGEST }))
} else if (text.includes('.Manifest.Digest')) console.log('${BASE_DIGEST}')
else if (text.includes('.SBOM')) console.log(process.env.SBOM)
else if (text.includes('.Provenance')) console.log('{"SLSA":{"buildType":"x"}}')
`

/** A committed project of nothing but what the script reads. */
function project() {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-build-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const bin = join(folder, 'bin')
  const work = join(folder, 'work')
  mkdirSync(bin)
  mkdirSync(join(work, 'k8s/overlays/production'), { recursive: true })
  writeFileSync(join(bin, 'docker'), DOCKER)
  chmodSync(join(bin, 'docker'), 0o755)
  writeFileSync(join(work, 'package.json'), '{"version":"1.2.3"}')
  cpSync(join(ROOT, OVERLAY), join(work, OVERLAY))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
      cwd: work,
      encoding: 'utf8',
    })
  git('init', '--quiet')
  git('add', '.')
  git('commit', '--quiet', '--message', 'all')
  const calls = join(folder, 'calls')
  writeFileSync(calls, '')
  const build = (env: Readonly<Record<string, string>> = {}) =>
    spawnSync(
      process.execPath,
      [SCRIPT, '--image', 'registry.example.com/haversack', '--overlay', 'production'],
      {
        cwd: work,
        encoding: 'utf8',
        env: {
          PATH: `${bin}:${process.env['PATH']}`,
          CALLS: calls,
          SBOM: '{"SPDX":{"packages":[1]}}',
          DIGEST,
          ...env,
        },
      },
    )
  const called = () =>
    readFileSync(calls, 'utf8')
      .trim()
      .split('\n')
      .map(line => (line === '' ? [] : (JSON.parse(line) as string[])))
  const overlay = () => readFileSync(join(work, OVERLAY), 'utf8')
  return { work, build, called, overlay, head: git('rev-parse', 'HEAD').trim() }
}

it('builds from a pinned base with an SBOM and provenance, and pins the overlay', () => {
  const { build, called, overlay, head } = project()
  const { status, stdout, stderr } = build()
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(stdout).toBe(`registry.example.com/haversack@${DIGEST}\n`)
  const built = called().find(args => args.includes('build')) ?? []
  expect(built).toEqual(expect.arrayContaining(['--push', '--sbom=true', '--provenance=mode=max']))
  expect(built).toContain(`NODE_IMAGE=node:26-bookworm-slim@${BASE_DIGEST}`)
  expect(built).toContain(`REVISION=${head}`)
  expect(built).toContain('registry.example.com/haversack:1.2.3')
  const before = readFileSync(join(ROOT, OVERLAY), 'utf8')
  expect(overlay()).toBe(before.replace(/sha256:[0-9a-f]{64}/, DIGEST))
})

it.each([
  ['without an SBOM', { SBOM: 'null' }, 'has no SBOM'],
  ['without a digest', { DIGEST: 'latest' }, 'no digest'],
])('fails %s, and leaves the overlay unchanged', (_, env, message) => {
  const { build, overlay } = project()
  const before = overlay()
  const { status, stderr } = build(env)
  expect(status).not.toBe(0)
  expect(stderr).toContain(message)
  expect(overlay()).toBe(before)
})

it('builds nothing that is not committed', () => {
  const { build, called, work } = project()
  writeFileSync(join(work, 'new'), '')
  const { status, stderr } = build()
  expect(status).not.toBe(0)
  expect(stderr).toContain('commit these first')
  expect(called().some(args => args.includes('build'))).toBe(false)
})
