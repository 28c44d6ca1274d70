import { describe, expect, it } from 'vitest'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { FULL_RUNS, SEED } from '../../../support/runs.ts'
import { leavesOf } from './leaves.ts'
import { ENTRIES, leaves } from './play.ts'
import { NOTE_ROWS, ROWS_OF_KEYS } from './rows.ts'

const rows = Object.entries({ ...ROWS_OF_KEYS, ...NOTE_ROWS })

describe('keys of pipeline_config.toml', () => {
  it('all have a row, and no row is of another', () => {
    expect(Object.keys(ROWS_OF_KEYS).toSorted()).toEqual(leavesOf(pipelineSchema).toSorted())
  })

  it.each(rows.filter(([, shown]) => typeof shown === 'string'))('%s: %s', (_, reason) => {
    expect(String(reason).length).toBeGreaterThan(20)
  })

  const acting = rows.flatMap(([key, shown]) =>
    typeof shown === 'string'
      ? []
      : ENTRIES.map(entry => [key, entry, shown.not?.[entry] ?? 'acts', shown] as const),
  )

  const played = FULL_RUNS ? acting : acting.filter((_, n) => n % 24 === SEED % 24)

  it.each(played)('%s at %s: %s', (_, entry, reason, { with: changed, without = {}, ...play }) => {
    const before = leaves(entry, without, play)
    const after = leaves(entry, changed, play)
    if (reason === 'acts') expect(after).not.toBe(before)
    else expect(after).toBe(before)
  })
})
