/**
 * Pictures of what commands print, from fixed inputs, and of the page:
 *
 *     npm run pictures
 *
 * A test compares the texts with those that are committed.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeSampleLedger } from './pictures/sample-ledger.ts'
import { terminalSvg } from './pictures/terminal-svg.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOLDER = join(ROOT, 'docs/guide/pictures')
/** The day of the pictures. */
const NOW = Date.UTC(2026, 10, 29, 12)

/** What a command prints at that time, in colour. */
function printed(args: readonly string[], dataDir: string): string {
  const clock = `const Then = Date; globalThis.Date = class extends Then {
    constructor(...of) { super(...(of.length === 0 ? [${NOW}] : of)) }
    static now() { return ${NOW} } }`
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [`--import=data:text/javascript,${encodeURIComponent(clock)}`, 'src/cli.ts', ...args],
    {
      cwd: ROOT,
      encoding: 'utf8',
      // Nobody listens on port 9, so that no service of this machine is asked.
      env: {
        ...{ PATH: process.env['PATH'], LANG: 'C.UTF-8', TZ: 'UTC', COLUMNS: '88' },
        ...{ FORCE_COLOR: '1', HAVERSACK_DATA_DIR: dataDir, HOME: dataDir },
      },
    },
  )
  if (status !== 0) throw new Error(`haversack ${args.join(' ')}: ${stderr}`)
  return stdout
}

/** The pictures of commands, by the names of their files. */
export async function commandPictures(): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-pictures-'))
  try {
    await writeSampleLedger(folder, NOW)
    const gain = printed(['gain'], folder)
    return new Map([['gain.svg', terminalSvg('haversack gain', gain)]])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, svg] of await commandPictures()) writeFileSync(join(FOLDER, name), svg)
  const page = ['vitest', 'run', '--project=processes', 'test/processes/ui/browser.test.ts']
  const env = { ...process.env, TEST_PICTURES: FOLDER }
  process.exitCode = spawnSync('npx', page, { cwd: ROOT, stdio: 'inherit', env }).status ?? 1
}
