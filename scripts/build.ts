import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * npm run build
 *
 * Emits `dist/`, which is what the published package runs: Node strips no types under node_modules.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OUT = join(ROOT, 'dist')

/** Files that modules read from beside them; the compiler leaves them where they are. */
const ASSETS = ['src/**/*.{json,wasm}', 'workers/**/*.{json,wasm}', 'views/*.toml']

/** The exit code of the compiler, which has printed what it found. */
function compile(): number {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status ?? 1
}

function copyAssets(): void {
  for (const file of globSync(ASSETS, { cwd: ROOT })) {
    const target = join(OUT, file)
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(join(ROOT, file), target)
  }
}

rmSync(OUT, { recursive: true, force: true })
process.exitCode = compile()
if (process.exitCode === 0) {
  copyAssets()
  // npm sets it for the commands that it links; this is for whoever unpacks the tarball by hand.
  chmodSync(join(OUT, 'src/cli.js'), 0o755)
}
