import { parse, TomlError } from 'smol-toml'
import { readPlainText } from '../files/read-plain-file.ts'
import type { Tree } from './env-keys.ts'

/** A configuration that cannot be used; `message` lists every fault, a line each. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length} fault${faults.length === 1 ? '' : 's'}:\n  ${faults.join('\n  ')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/** Why a file of the configuration cannot be used, as the rest of a sentence. */
export function faultOfFile(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOTPLAIN') return 'is no plain file'
  if (code === 'ELOOP') return 'leads in a circle of links'
  return error instanceof RangeError ? 'is nested too deeply' : 'cannot be read'
}

/** A TOML file, with the text in which lines are found. */
export interface TomlFile {
  readonly file: string
  readonly source: string
  readonly tree: Tree
}

/** @throws ConfigError for a file that cannot be read, or is no TOML */
export function readToml(file: string): TomlFile {
  try {
    const source = readPlainText(file)
    return { file, source, tree: parse(source) }
  } catch (error) {
    if (error instanceof TomlError) {
      throw new ConfigError([`${file}: line ${error.line}: ${error.message.split('\n')[0]}`])
    }
    throw new ConfigError([`${file}: ${faultOfFile(error)}`])
  }
}
