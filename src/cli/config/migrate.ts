import { constants, copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { migrateFile } from '../../config/layers/migrate-file.ts'
import { ConfigError } from '../../config/read-toml.ts'
import { alignColumns } from '../../console/table.ts'
import { readPlainText } from '../../files/read-plain-file.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

interface MigrateOptions {
  readonly writes: boolean
  readonly keepsDefaults: boolean
}

/** Reports what becomes of each line, and writes the file if that is asked for. */
export function migrateConfig(file: string, { writes, keepsDefaults }: MigrateOptions): number {
  const { text, keys, warnings } = migrateFile(file, read(file), { keepsDefaults })
  const rows = keys.map(({ line, key, fate }) => [`${file}:${line}`, key, fate])
  process.stderr.write(`${[...alignColumns(rows), ...warnings].join('\n')}\n`)
  if (!writes) {
    process.stdout.write(text)
    return EXIT.ok
  }
  const backup = backUp(file)
  replace(file, text)
  process.stderr.write(`haversack: ${file} is written; ${backup} is what it was\n`)
  return EXIT.ok
}

function read(file: string): string {
  try {
    return readPlainText(file)
  } catch {
    throw new ConfigError([`${file}: cannot be read`])
  }
}

/** A copy beside the file. An earlier one is never overwritten. */
function backUp(file: string): string {
  for (let number = 0; ; number++) {
    const backup = number === 0 ? `${file}.before` : `${file}.before.${number}`
    try {
      copyFileSync(file, backup, constants.COPYFILE_EXCL)
      return backup
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** In one step, so that no reader sees half of it. */
function replace(file: string, text: string): void {
  const next = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(next, text, { flag: 'wx' })
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}
