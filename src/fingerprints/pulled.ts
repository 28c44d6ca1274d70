import { join } from 'node:path'
import type { z } from 'zod'
import { AppError } from '../core/base/errors.ts'
import { validate } from '../core/contract/validate.ts'
import {
  type Fingerprint,
  LIMITS,
  type MergedFingerprint,
} from '../core/fingerprints/fingerprint.ts'
import { providerDocument, teamDocument } from '../core/fingerprints/upload.ts'
import { readBytes } from './folder-files.ts'

/** Files with what was fetched last, beside the tenant's own. */
export const TEAM_FILE = 'team.json'

export function providerFile(name: string): string {
  return `provider-${name}.json`
}

/** The figures of others about endpoints, by name. */
export interface Pulled {
  readonly team: ReadonlyMap<string, MergedFingerprint>
  readonly providers: ReadonlyMap<string, Fingerprint>
}

/**
 * Reads what was fetched; sources that were not fetched have no figures. A team's figures are
 * marked stale once they are old enough.
 * @param now Unix milliseconds
 * @throws AppError `invalid_request` for a file that holds something else
 */
export async function readPulled(
  folder: string,
  providers: readonly string[],
  now: number,
): Promise<Pulled> {
  const team = await readDocument(join(folder, TEAM_FILE), teamDocument)
  const isOld = team !== null && now - team.generated_at >= LIMITS.freshMs
  const byName = new Map<string, Fingerprint>()
  for (const name of providers) {
    const document = await readDocument(join(folder, providerFile(name)), providerDocument)
    for (const each of document?.fingerprints ?? []) byName.set(each.endpoint_class, each)
  }
  return {
    team: new Map(
      (team?.fingerprints ?? []).map(each => [
        each.endpoint_class,
        { ...each, stale: each.stale || isOld },
      ]),
    ),
    providers: byName,
  }
}

async function readDocument<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  const bytes = await readBytes(file)
  if (bytes === null) return null
  try {
    return validate(schema, JSON.parse(Buffer.from(bytes).toString()))
  } catch (error) {
    throw new AppError('invalid_request', `${file} holds something else; pull again`, {}, error)
  }
}
