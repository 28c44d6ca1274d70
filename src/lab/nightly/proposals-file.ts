import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { replacePrivateFile } from '../../files/replace-file.ts'
import type { TunedChange } from '../versions/tuned.ts'

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
  changes: z.array(
    z.object({
      key: z.array(z.string()),
      to: z.union([z.boolean(), z.number(), z.string(), z.array(z.string())]),
      rule: z.string(),
      evidence: z.string(),
    }),
  ),
})

export type Proposals = Omit<z.output<typeof schema>, 'changes'> & {
  readonly changes: readonly TunedChange[]
}

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
