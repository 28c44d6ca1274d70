import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type LayersPlace, readLayers } from '../../config/layers/read-layers.ts'
import { replacePrivateFile } from '../../files/replace-file.ts'
import { configValue } from './key-path.ts'
import { Tuned, type TunedVersion } from './tuned.ts'
import { TunedFault } from './tuned-file.ts'

/** What the last analysis accepted. */
const schema = z.object({
  created_at: z.string(),
  /** The version that was in force; `null` for none. */
  onto: z.string().nullable(),
  /** The configuration that it was judged against. */
  generation: z.string(),
  /** Digest of the conversations. */
  inputs: z.string(),
  effect: z.object({ before: z.number(), after: z.number() }).optional(),
  changes: z
    .array(
      z.object({
        key: z.array(z.string()).readonly(),
        to: configValue,
        rule: z.string(),
        evidence: z.string(),
      }),
    )
    .readonly(),
})

export type Proposals = z.output<typeof schema>

function fileOf(dataDir: string, tenant: string): string {
  return join(dataDir, 'tuned', 'proposals', `${tenant}.json`)
}

/** Replaces the proposals of the tenant's last analysis. */
export function saveProposals(dataDir: string, tenant: string, proposals: Proposals): void {
  replacePrivateFile(fileOf(dataDir, tenant), `${JSON.stringify(proposals)}\n`, true)
}

/** Returns `null` if there was no analysis, or its file is damaged. */
export function loadProposals(dataDir: string, tenant: string): Proposals | null {
  try {
    const read = schema.safeParse(JSON.parse(readFileSync(fileOf(dataDir, tenant), 'utf8')))
    return read.success ? read.data : null
  } catch {
    return null
  }
}

/**
 * Writes what an analysis accepted. @returns the version; `null` if there is nothing to change
 * @throws TunedFault if the configuration was changed since, or the tuned file has a fault
 */
export function applyAccepted(
  place: LayersPlace,
  tenant: string,
  { created_at: _, changes, ...terms }: Proposals,
): TunedVersion | null {
  if (readLayers(place, { tenant }).generation !== terms.generation) {
    throw new TunedFault('the configuration was changed since: run `haversack tune analyze` again')
  }
  return new Tuned(place.data_dir, tenant).apply(changes, { ...terms, now: new Date() })
}
