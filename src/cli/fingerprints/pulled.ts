import { join } from 'node:path'
import type { z } from 'zod'
import type { Fingerprint, MergedFingerprint } from '../../core/fingerprints/fingerprint.ts'
import { providerDocument, teamDocument } from '../../core/fingerprints/upload.ts'
import { validate } from '../../core/requests/validate.ts'
import { readBytes } from '../../fingerprints/span-file.ts'

/** What was fetched last, beside one's own. */
export const TEAM_FILE = 'team.json'

export function providerFile(name: string): string {
  return `provider-${name}.json`
}

/** What others say of endpoints, by name. */
export interface Pulled {
  readonly team: ReadonlyMap<string, MergedFingerprint>
  readonly providers: ReadonlyMap<string, Fingerprint>
}

/** What was fetched; nothing of what was not. @throws AppError `invalid_request` for a file that holds something else */
export async function readPulled(folder: string, providers: readonly string[]): Promise<Pulled> {
  const team = await readDocument(join(folder, TEAM_FILE), teamDocument)
  const byName = new Map<string, Fingerprint>()
  for (const name of providers) {
    const document = await readDocument(join(folder, providerFile(name)), providerDocument)
    for (const each of document?.fingerprints ?? []) byName.set(each.endpoint_class, each)
  }
  return {
    team: new Map((team?.fingerprints ?? []).map(each => [each.endpoint_class, each])),
    providers: byName,
  }
}

async function readDocument<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  const bytes = await readBytes(file)
  return bytes === null ? null : validate(schema, JSON.parse(Buffer.from(bytes).toString()))
}
