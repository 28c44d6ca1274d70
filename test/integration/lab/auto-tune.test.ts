import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type AutoTuneOptions, openAutoTune } from '../../../src/lab/nightly/auto-tune.ts'
import { loadProposals } from '../../../src/lab/versions/proposals.ts'
import { Tuned } from '../../../src/lab/versions/tuned.ts'
import { lockFolder } from '../../../src/runtime/folder-lock.ts'
import { dataFolder, writeLogs } from '../../support/agent-logs.ts'
import { useBundledWorkers } from '../../support/bundled-worker.ts'
import { eventually } from '../../support/eventually.ts'

useBundledWorkers()

const WEEK_MS = 7 * 86_400_000

/** What is logged by analyses of a data folder, and how often the configuration is read again. */
function tuneIn(data: string, log: string) {
  const said: { readonly infos: object[]; readonly errors: object[]; reloads: number } = {
    ...{ infos: [], errors: [], reloads: 0 },
  }
  let looks = 0
  return {
    said,
    looks: () => looks,
    open(auto: 'off' | 'propose' | 'apply', now = Date.now()) {
      const tuning = openAutoTune({
        mode() {
          looks++
          return auto
        },
        logs: [log],
        providers: () => [],
        place: { data_dir: data },
        configurations: { reload: async () => void said.reloads++ },
        logger: {
          info: (fields: object) => void said.infos.push(fields),
          error: (fields: object) => void said.errors.push(fields),
        } as unknown as AutoTuneOptions['logger'],
        now: () => now,
        // With the lowest priority an analysis does not end while other tests take both processors.
        niceness: 0,
      })
      onTestFinished(() => tuning.close())
    },
  }
}

describe('analyses without a person', () => {
  it('propose or apply what the guard accepted, once a week for all services', async () => {
    const data = dataFolder()
    const log = writeLogs(data, true)
    const [tune, other] = [tuneIn(data, log), tuneIn(data, log)]
    tune.open('propose')
    await eventually(() => expect(tune.said.infos).toHaveLength(2))
    expect(tune.said.infos).toEqual([
      { tenant: 'local', mode: 'propose' },
      { tenant: 'local', conversations: 14, accepted: 1 },
    ])
    expect(loadProposals(data, 'local')?.changes).toMatchObject([{ to: false, rule: 'R6' }])
    expect(existsSync(join(data, 'tuned', 'local.toml'))).toBe(false)

    // Another process finds the analysis, and waits for the rest of the week.
    const before = tune.looks()
    tune.open('apply', Date.now() + WEEK_MS - 3_600_000)
    await eventually(() => expect(tune.looks()).toBe(before + 1))
    expect(tune.said.infos).toHaveLength(2)

    for (const each of [tune, other]) each.open('apply', Date.now() + WEEK_MS)
    const infos = () => [...tune.said.infos.slice(2), ...other.said.infos]
    await eventually(() => expect(tune.said.reloads + other.said.reloads).toBe(1))
    await eventually(() =>
      expect([tune.looks() > before + 1, other.looks() > 0]).toEqual([true, true]),
    )
    const versions = new Tuned(data, 'local').inForce().versions
    expect(versions).toHaveLength(1)
    expect(infos()).toHaveLength(2)
    expect(infos()[1]).toMatchObject({ accepted: 1, version: versions[0]!.id })
    expect(new Tuned(data, 'local').inForce().now).toMatchObject({
      config: { endpoint_overrides: { Read: { elision_enabled: false } } },
    })
    expect([...tune.said.errors, ...other.said.errors]).toEqual([])
  })

  it('wait while another process makes one, and do not end a service without a folder', async () => {
    const data = dataFolder()
    const log = writeLogs(data, true)
    const held = lockFolder(join(data, 'tuned', 'proposals'), 'analysis.lock')
    const waiting = tuneIn(data, log)
    waiting.open('apply')
    await eventually(() => expect(waiting.looks()).toBeGreaterThan(0))
    expect(waiting.said).toMatchObject({ infos: [], errors: [] })
    held.close()

    const nowhere = tuneIn(log, log)
    nowhere.open('apply')
    await eventually(() => expect(nowhere.said.errors).toHaveLength(1))
  })

  it('are not made unless they are on', async () => {
    const data = dataFolder()
    const tune = tuneIn(data, writeLogs(data, true))
    tune.open('off')
    await eventually(() => expect(tune.looks()).toBe(1))
    expect(loadProposals(data, 'local')).toBeNull()
  })

  it('report what they cannot read, and change nothing', async () => {
    const data = dataFolder()
    const tune = tuneIn(data, join(data, 'none'))
    writeFileSync(join(data, 'pipeline_config.toml'), '[dedup\n')
    tune.open('apply')
    await eventually(() => expect(tune.said.errors).toHaveLength(1))
    expect(tune.said.infos).toEqual([{ tenant: 'local', mode: 'apply' }])
    expect(tune.said.reloads).toBe(0)
  })
})
