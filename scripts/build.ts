import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { bundleOutput } from './bundle-output.ts'

/**
 * npm run build
 *
 * Emits `dist/`, which is what the published package runs: Node strips no types under node_modules.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join(ROOT, 'dist')

/**
 * Packages that stay outside the bundle, since they start files of theirs by their paths. The others
 * are put in, those too that are installed for their types: to find the 95 files of zod takes a
 * tenth of a start, and each thread does it again.
 */
const STARTED_BY_PATH = ['msgpackr', 'piscina']

/** Files that modules read from beside them; the compiler leaves them where they are. */
const ASSETS = [
  'src/**/*.{json,lua,wasm}',
  'src/ui/assets/*',
  'workers/**/*.{json,wasm}',
  'views/*.toml',
  'models.toml',
  'prices.toml',
  'skills/*/SKILL.md',
]

/** The exit code of the compiler, which has printed what it found. */
function compile(): number {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status ?? 1
}

/** What is used of tiktoken, a fifth of it: it has each vocabulary three times. */
const VOCABULARIES = [
  'encoders/{o200k,cl100k,p50k,r50k}_base.json',
  'lite/{tiktoken,tiktoken_bg}.cjs',
  'lite/tiktoken_bg.wasm',
].flatMap(files => globSync(join(ROOT, 'node_modules/tiktoken', files)))

function copyVocabularies(): void {
  mkdirSync(join(OUT, 'vocabularies'))
  for (const file of VOCABULARIES) copyFileSync(file, join(OUT, 'vocabularies', basename(file)))
}

function copyAssets(): void {
  for (const file of globSync(ASSETS, { cwd: ROOT })) {
    const target = join(OUT, file)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(ROOT, file), target)
  }
}

/** Writes the built-in views as they are used, by the compiled module that reads them. */
async function compileViews(): Promise<void> {
  const { builtInViews } = (await import(
    pathToFileURL(join(OUT, 'src/config/views.js')).href
  )) as typeof import('../src/config/views.ts')
  const views = builtInViews().map(view => ({ ...view, file: basename(view.file) }))
  writeFileSync(join(OUT, 'views/built-in.json'), JSON.stringify(views))
}

const IMPORT = /(?:from|import\()\s*'(\.[^']+)\.[jt]s'/g

/** The declarations that a program gets which imports the package. */
function publicDeclarations(): ReadonlySet<string> {
  const found = new Set(['index', 'library/codec'].map(entry => join(OUT, `src/${entry}.d.ts`)))
  // What is added on the way is visited, too.
  for (const file of found) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      found.add(join(dirname(file), `${path}.d.ts`))
    }
  }
  return found
}

/** The others are a fifth of the package. */
function removeOtherDeclarations(): void {
  const kept = publicDeclarations()
  for (const name of globSync('**/*.d.ts', { cwd: OUT })) {
    const file = join(OUT, name)
    if (!kept.has(file)) rmSync(file)
  }
}

rmSync(OUT, { recursive: true, force: true })
process.exitCode = compile()
if (process.exitCode === 0) {
  copyAssets()
  copyVocabularies()
  await compileViews()
  removeOtherDeclarations()
  await bundleOutput(OUT, STARTED_BY_PATH, VOCABULARIES)
  // npm sets it for the commands that it links; this is for whoever unpacks the tarball by hand.
  chmodSync(join(OUT, 'src/cli.js'), 0o755)
}
