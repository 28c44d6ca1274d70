import { join } from 'node:path'
import { z } from 'zod'
import { replacePrivateFile } from '../../../files/replace-file.ts'
import { definitionHash, type ListEntry } from '../catalogue.ts'
import { readJsonFile } from './private-file.ts'

const pinned = z.record(z.string(), z.string())

/** The definitions of one server's tools that its user has accepted. */
export interface Pins {
  /**
   * The tools that are as they were accepted. One that was never seen is accepted.
   * @throws what the file system throws if a new one cannot be noted
   */
  accepted(tools: readonly ListEntry[]): readonly ListEntry[]
  /** Accepts all as they are now. @returns the names of those that were not as accepted */
  accept(tools: readonly ListEntry[]): readonly string[]
}

/** @param id names the server, and the tenant that it is used for */
export function openPins(dataDir: string, id: string): Pins {
  const file = join(dataDir, 'mcp-servers', `${id}.pins.json`)
  // Read each time: another process may have accepted a change.
  const read = () => new Map(Object.entries(pinned.safeParse(readJsonFile(file)).data ?? {}))
  const write = (pins: ReadonlyMap<string, string>) =>
    replacePrivateFile(file, JSON.stringify(Object.fromEntries(pins)))
  return {
    accepted(tools) {
      const pins = read()
      const before = pins.size
      const same = tools.filter(tool => {
        const own = definitionHash(tool)
        if (!pins.has(tool.key)) pins.set(tool.key, own)
        return pins.get(tool.key) === own
      })
      if (pins.size > before) write(pins)
      return same
    },
    accept(tools) {
      const pins = read()
      const changed = tools.filter(tool => {
        const own = definitionHash(tool)
        const differs = (pins.get(tool.key) ?? own) !== own
        pins.set(tool.key, own)
        return differs
      })
      write(pins)
      return changed.map(({ key }) => key)
    },
  }
}
