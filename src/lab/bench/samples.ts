import { type RecordedResult, readResults } from '../replay/read-results.ts'
import { criticalParts, kindOf } from './critical.ts'
import { type Fixture, isHeldOut } from './fixtures.ts'
import type { Sample } from './measure.ts'

/** Made-up texts, split by whether they are held out. */
export function samplesOfFixtures(
  fixtures: readonly Fixture[],
  holdout: number,
): readonly Sample[] {
  return fixtures.map(fixture => ({
    name: fixture.name,
    group: isHeldOut(fixture, holdout) ? 'held out' : 'in use',
    kind: fixture.kind,
    request: { content: fixture.text },
    critical: fixture.critical,
    anywhere: true,
  }))
}

/** Recorded results, those of a folder of payloads by its name, those of sessions together. */
export function samplesOfCorpus(path: string): readonly Sample[] {
  return readResults(path).results.map((result, index) => {
    const { tool, text, session, is_error } = result
    const kind = kindOf(text, fileOf(result))
    return {
      name: `${tool}-${index}`,
      group: session === undefined ? tool : 'sessions',
      kind,
      request: { content: text, tool, ...(is_error === undefined ? {} : { is_error }) },
      critical: criticalParts(text, kind),
    }
  })
}

/** The file that a call named, as far as an argument says one. */
function fileOf({ args, session, tool }: RecordedResult): string {
  // A plain file is a result of a tool that is named like its folder.
  if (session === undefined && tool.endsWith('-logs')) return 'x.log'
  if (typeof args !== 'object' || args === null) return ''
  for (const [key, value] of Object.entries(args)) {
    if (/^(?:file_)?path$/.test(key) && typeof value === 'string') return value
  }
  return ''
}
