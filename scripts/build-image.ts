/**
 * Builds and pushes the image with its SBOM and provenance, and pins an overlay to its digest.
 *
 *     npm run build:image -- --image registry.example.com/haversack --overlay production
 *
 * Needs Docker with buildx, and a builder that attests: `docker buildx create --use`.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseDocument } from 'yaml'

const BASE = 'node:26-bookworm-slim'
const DIGEST = /^sha256:[0-9a-f]{64}$/

/** The standard output of a command. Its other output goes to ours. */
function run(program: string, ...args: string[]): string {
  const { error, status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (error !== undefined) throw new Error(`${program}: ${error.message}`)
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed with ${status}`)
  return stdout.trim()
}

function inspect(image: string, format: string): string {
  return run('docker', 'buildx', 'imagetools', 'inspect', image, '--format', format)
}

function checkDigest(digest: unknown, of: string): string {
  if (typeof digest === 'string' && DIGEST.test(digest)) return digest
  throw new Error(`no digest of ${of}: ${digest}`)
}

/** The commit that is built. Provenance that names another one would be worth nothing. */
function revision(): string {
  const changes = run('git', 'status', '--porcelain')
  if (changes !== '') throw new Error(`commit these first:\n${changes}`)
  return run('git', 'rev-parse', 'HEAD')
}

/** Builds, pushes, and returns the digest of what was pushed. */
function build(image: string, version: string): string {
  const base = `${BASE}@${checkDigest(inspect(BASE, '{{.Manifest.Digest}}'), BASE)}`
  const folder = mkdtempSync(join(tmpdir(), 'haversack-image-'))
  const metadata = join(folder, 'metadata.json')
  const values = { NODE_IMAGE: base, VERSION: version, REVISION: revision() }
  try {
    run(
      ...(['docker', 'buildx', 'build', '--push', '--sbom=true', '--provenance=mode=max'] as const),
      ...Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
      ...['--metadata-file', metadata, '--tag', `${image}:${version}`, '.'],
    )
    const { 'containerimage.digest': digest } = JSON.parse(readFileSync(metadata, 'utf8'))
    return checkDigest(digest, image)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A builder without attestations leaves them out without an error. */
function checkAttestations(pinned: string): void {
  for (const part of ['SBOM', 'Provenance']) {
    const found = inspect(pinned, `{{json .${part}}}`)
    if (['', 'null', '{}'].includes(found)) throw new Error(`${pinned} has no ${part}`)
  }
}

/** Names the image by its digest in the overlay, and leaves all else in the file unchanged. */
function pin(overlay: string, image: string, digest: string): void {
  const file = join('k8s/overlays', overlay, 'kustomization.yaml')
  const document = parseDocument(readFileSync(file, 'utf8'))
  document.setIn(['images'], document.createNode([{ name: 'haversack', newName: image, digest }]))
  writeFileSync(file, document.toString())
}

const { values } = parseArgs({
  options: { image: { type: 'string' }, overlay: { type: 'string' } },
})
if (values.image === undefined) throw new Error('--image says what to push, without a tag')
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const digest = build(values.image, version)
checkAttestations(`${values.image}@${digest}`)
if (values.overlay !== undefined) pin(values.overlay, values.image, digest)
process.stdout.write(`${values.image}@${digest}\n`)
