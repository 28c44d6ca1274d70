import { readFileSync } from 'node:fs'
import { parse, TomlError } from 'smol-toml'
import type { Tree } from './env.ts'

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

/** @throws ConfigError for a file that cannot be read, or is no TOML */
export function readToml(file: string): Tree {
  try {
    return parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error instanceof TomlError) {
      throw new ConfigError([`${file}: line ${error.line}: ${error.message.split('\n')[0]}`])
    }
    throw new ConfigError([`${file}: cannot be read`])
  }
}
