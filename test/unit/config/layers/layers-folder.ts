import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach } from 'vitest'
import {
  type Layered,
  type LayersOf,
  type LayersPlace,
  readLayers,
} from '../../../../src/config/layers/read-layers.ts'
import { ConfigError } from '../../../../src/config/read-toml.ts'

/** The table of a tuned file. */
export const TUNED = `[tuned]
id = "a1b2"
created_at = "2026-11-20T10:00:00.000Z"
generation = "0123456789abcdef"
`

/** Whose configuration is read, and the project's file. */
type Whose = LayersOf & { readonly project?: string }

/** A data folder with the files of layers. */
export class LayersFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'haversack-layers-'))

  write(name: string, text: string): string {
    const file = join(this.path, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  /** @param wanted what holds unless a file says otherwise */
  read({ project, ...of }: Whose = { tenant: 'acme' }, wanted: Partial<LayersPlace> = {}): Layered {
    return readLayers({ data_dir: this.path, project, ...wanted }, of)
  }

  faults(of?: Whose): readonly string[] {
    try {
      this.read(of)
    } catch (error) {
      if (error instanceof ConfigError) return error.faults.map(each => this.#short(each))
      throw error
    }
    return []
  }

  tunedFaults(): readonly string[] {
    return this.read().tunedFaults.map(each => this.#short(each))
  }

  #short(fault: string): string {
    return fault.replaceAll(`${this.path}/`, '')
  }
}

/** A folder for one test. */
export function layersFolder(): LayersFolder {
  const folder = new LayersFolder()
  made.push(folder)
  return folder
}

const made: LayersFolder[] = []
afterEach(() => {
  for (const { path } of made.splice(0)) rmSync(path, { recursive: true })
})
