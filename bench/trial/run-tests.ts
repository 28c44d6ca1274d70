import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, sep } from 'node:path'

const LIMIT_MS = 10_000
const MOST_BYTES = 1 << 20

/** What tests that ended by themselves printed, by their files: arms begin with the same ones. */
const known = new Map<string, string>()

/**
 * Runs `test/run.mjs` of a repository, and returns what it prints. Node's permission model lets it
 * read its own folder and nothing else: no other files, no child processes, threads or network.
 * It inherits no variable of the environment.
 */
export async function runTests(files: ReadonlyMap<string, string>): Promise<string> {
  const key = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('hex')
  const printed = known.get(key)
  if (printed !== undefined) return printed
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'haversack-trial-')))
  try {
    for (const [path, content] of files) {
      const place = normalize(join(folder, path))
      if (!place.startsWith(folder + sep)) throw new Error(`${path} leads out of the folder`)
      mkdirSync(dirname(place), { recursive: true })
      writeFileSync(place, content)
    }
    const args = ['--permission', `--allow-fs-read=${folder}`, join('test', 'run.mjs')]
    const options = { cwd: folder, env: {}, timeout: LIMIT_MS, maxBuffer: MOST_BYTES }
    return await new Promise(resolve => {
      execFile(process.execPath, args, options, (error, stdout, stderr) => {
        const [first = 'failed'] = stderr.split('\n').filter(line => /^\w*Error/.test(line))
        if (error === null) known.set(key, stdout.trimEnd())
        resolve(known.get(key) ?? `${stdout}${first}`.replaceAll(folder, '.'))
      })
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
