import { describe, expect, it } from 'vitest'
import { type Config, configSchema } from '../../../src/config/config.ts'
import { reloaded } from '../../../src/service/reload.ts'

const config = (toml: object = {}): Config => configSchema.parse({ workers: { count: 2 }, ...toml })

/** A value beside the default for each setting there is. */
const OTHERS: Readonly<Record<string, unknown>> = {
  host: '::1',
  port: 1,
  allowed_hosts: ['other'],
  keys_file: '/other.json',
  log: { level: 'error' },
  workers: { count: 3 },
  proxy: { openai_url: 'http://other' },
  compression: { enabled: 'hold', tenants: { acme: { enabled: false } } },
  watch: true,
}

const WAITING = [
  ...['host', 'port', 'keys_file', 'workers'],
  ...['proxy', 'watch'],
  'limits.max_body_bytes',
]

describe('a configuration that is read again', () => {
  it('is in force where nothing changed, and nothing waits', () => {
    const current = config(OTHERS)
    expect(reloaded(current, config(OTHERS))).toEqual({ config: current, waiting: [] })
  })

  it.each(Object.keys(configSchema.shape).filter(name => name !== 'limits'))(
    'either takes a change of %s or says that it waits',
    name => {
      const next = config({ [name]: OTHERS[name] })
      const { config: live, waiting } = reloaded(config(), next)
      const waits = WAITING.includes(name)
      expect(waiting).toEqual(waits ? [name] : [])
      const from = (waits ? config() : next) as Record<string, unknown>
      expect((live as Record<string, unknown>)[name]).toEqual(from[name])
    },
  )

  it.each(Object.keys(config().limits))('does so with limits.%s', name => {
    const limits: Record<string, number> = config().limits
    const other = (limits[name] ?? 0) - 1
    const { config: live, waiting } = reloaded(config(), config({ limits: { [name]: other } }))
    const waits = WAITING.includes(`limits.${name}`)
    expect(waiting).toEqual(waits ? [`limits.${name}`] : [])
    expect(live.limits).toEqual(waits ? limits : { ...limits, [name]: other })
  })

  it('takes what it can where some of it waits, and gives a setting back that is unset', () => {
    const current = config({ keys_file: '/keys.json', allowed_hosts: ['a'] })
    const next = config({ port: 1, limits: { max_body_bytes: 1, job_timeout_ms: 700 } })
    const { config: live, waiting } = reloaded(current, next)
    expect(waiting).toEqual(['port', 'keys_file', 'limits.max_body_bytes'])
    expect(live).toMatchObject({
      port: 8787,
      keys_file: '/keys.json',
      allowed_hosts: [],
      limits: { job_timeout_ms: 700, max_body_bytes: config().limits.max_body_bytes },
    })
  })

  it('changes neither of both', () => {
    const [current, next] = [config(), config({ port: 1, limits: { max_body_bytes: 3 } })]
    const before = structuredClone([current, next])
    reloaded(current, next)
    expect([current, next]).toEqual(before)
  })

  it('leaves a change waiting until it is taken back', () => {
    const next = config({ port: 1 })
    const once = reloaded(config(), next)
    const twice = reloaded(once.config, next)
    expect(twice).toEqual(once)
    expect(reloaded(twice.config, config()).waiting).toEqual([])
  })
})
