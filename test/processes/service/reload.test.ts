import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../../support/service-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-reload-'))
const [keys, toml, pipeline] = ['keys.json', 'config.toml', 'pipeline.toml'].map(name =>
  join(folder, name),
) as [string, string, string]
const old = keyFor('acme')
const fresh = keyFor('beta')
const admin = keyFor('ops', { scopes: ['metrics'] })

const CONFIG = `keys_file = ${JSON.stringify(keys)}
allowed_hosts = ["gate-one"]
[limits]
max_queue_wait_ms = 50
drain_grace_ms = 0
`
const PIPELINE = '[templates.endpoint_overrides]\nlist = "pipeline_deep_mckp"\n'
let service: ServiceProcess

beforeAll(async () => {
  writeKeysFile(keys, admin, old)
  writeFileSync(toml, CONFIG)
  writeFileSync(pipeline, PIPELINE)
  const env = { HAVERSACK_CONFIG: toml, HAVERSACK_PIPELINE_CONFIG: pipeline }
  service = await startProcess({ env })
})
afterAll(async () => {
  killProcesses()
  await service.exited
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  writeKeysFile(keys, admin, old)
  writeFileSync(toml, CONFIG)
  writeFileSync(pipeline, PIPELINE)
  await hangUp()
})

/** Sends SIGHUP and waits until both were read, or were not. */
async function hangUp(): Promise<void> {
  const count = async () => {
    const reads = (await metrics()).matchAll(
      /^haversack_reloads_total\{what="config",.*\} (\d+)$/gm,
    )
    return [...reads].reduce((sum, [, value]) => sum + Number(value), 0)
  }
  const before = await count()
  service.child.kill('SIGHUP')
  await eventually(async () => expect(await count()).toBe(before + 1))
}

const metrics = async () => (await fetch(`${service.url}/metrics`, admin)).text()

async function gauge(name: string): Promise<number> {
  const text = await metrics()
  return Number(
    text
      .split('\n')
      .find(line => line.startsWith(`${name} `))
      ?.split(' ')[1],
  )
}

/** Whether the service answers under a name, which `allowed_hosts` says. */
const answersAs = (host: string) =>
  new Promise<boolean>((resolve, reject) => {
    get(`${service.url}/livez`, { headers: { host } }, response => {
      response.resume()
      resolve(response.statusCode === 200)
    }).on('error', reject)
  })

/** Which name `allowed_hosts` has. */
async function hostInForce(): Promise<string | undefined> {
  for (const host of ['gate-one', 'gate-two']) if (await answersAs(host)) return host
  return undefined
}

const status = async ({ headers }: typeof old) =>
  (await fetch(`${service.url}/openapi.json`, { headers })).status

/** The line with this message behind the first `seen` ones, as soon as it is written. */
function logLine(message: string, seen: number) {
  return eventually(() => {
    const line = service
      .log()
      .slice(seen)
      .find(({ msg }) => msg === message)
    if (line === undefined) throw new Error(service.stderr())
    return line
  })
}

/** How many lines there are once those of a request that begins now are written. */
async function linesSoFar(): Promise<number> {
  const id = randomUUID()
  await fetch(`${service.url}/nothing`, { headers: { ...old.headers, 'x-request-id': id } })
  return eventually(() => {
    const at = service.log().findIndex(line => line['id'] === id)
    if (at === -1) throw new Error('not yet')
    return at + 1
  })
}

describe('SIGHUP', () => {
  it('puts other keys in force', async () => {
    expect([await status(old), await status(fresh)]).toEqual([200, 401])
    writeKeysFile(keys, admin, fresh)
    await hangUp()
    expect([await status(old), await status(fresh)]).toEqual([401, 200])
  })

  it('puts other settings in force, and tells of what needs a restart', async () => {
    expect(await hostInForce()).toBe('gate-one')
    const seen = await linesSoFar()
    writeFileSync(toml, CONFIG.replace('gate-one', 'gate-two').concat('max_body_bytes = 3\n'))
    await hangUp()
    expect(await hostInForce()).toBe('gate-two')
    expect(await gauge('haversack_reload_failed{what="config"}')).toBe(0)
    expect(await logLine('config read again', seen)).toMatchObject({
      needs_restart: ['limits.max_body_bytes'],
    })
  })

  it('puts in force how the pipeline chooses', async () => {
    const layer = async () => {
      const response = await fetch(`${service.url}/v1/encode`, {
        method: 'POST',
        headers: { ...old.headers, 'content-type': 'application/json' },
        body: JSON.stringify({
          tool: 'list',
          content: JSON.stringify([1, 2, 3, 4].map(id => ({ id, name: 'north gate' }))),
        }),
      })
      return ((await response.json()) as { layer: string }).layer
    }
    await eventually(async () => expect(await layer()).toBe('L1'))
    writeFileSync(pipeline, '')
    await hangUp()
    await eventually(async () => expect(await layer()).toBe('L2'))
  })

  it('leaves it as it is if a file is bad, and puts the rest in force', async () => {
    const seen = await linesSoFar()
    writeFileSync(toml, CONFIG.replace('gate-one', 'gate-two'))
    writeFileSync(pipeline, '[mckp]\nrecursion = 3\n')
    await hangUp()
    expect(await hostInForce()).toBe('gate-two')
    const line = await logLine('configuration not read; what was before stays in force', seen)
    expect(line).toMatchObject({ faults: [expect.stringContaining('line 2: mckp.recursion:')] })
    expect(await gauge('haversack_config_stale')).toBe(1)
    await hangUp()
    writeFileSync(pipeline, PIPELINE)
    await hangUp()
    await eventually(async () => expect(await gauge('haversack_config_stale')).toBe(0))
    const faults = service
      .log()
      .slice(seen)
      .filter(each => 'faults' in each)
    expect(faults).toHaveLength(1)
  })

  it('puts another level of the log in force', async () => {
    const silent = `[log]\nlevel = "error"\n`
    writeFileSync(toml, CONFIG + silent)
    await hangUp()
    const id = 'while-it-is-silent'
    await fetch(`${service.url}/nothing`, { headers: { ...old.headers, 'x-request-id': id } })
    writeFileSync(toml, CONFIG + silent.replace('error', 'debug'))
    await hangUp()
    await fetch(`${service.url}/livez`, { headers: { 'x-request-id': 'a-probe' } })
    await eventually(() => expect(service.stderr()).toContain('"a-probe"'))
    expect(service.stderr()).not.toContain(id)
  })

  it.each([
    ['of a bad syntax', '[limits\n', 'config.toml'],
    ['with a bad value', CONFIG.replace('50', '-1'), 'limits.max_queue_wait_ms'],
    ['with an unknown key', `${CONFIG}max_queue_job = 1\n`, 'max_queue_job'],
    ['with limits that contradict', `${CONFIG}max_body_bytes = 100_000_000\n`, 'store.max_bytes'],
  ])('keeps the configuration in force where there is one %s', async (_, text, fault) => {
    const seen = await linesSoFar()
    writeFileSync(toml, text)
    writeKeysFile(keys, admin, fresh)
    await hangUp()
    expect(await hostInForce()).toBe('gate-one')
    expect(await gauge('haversack_reload_failed{what="config"}')).toBe(1)
    // One does not hold up the other.
    expect(await gauge('haversack_reload_failed{what="keys"}')).toBe(0)
    expect(await status(fresh)).toBe(200)
    const line = await logLine('config not read; the ones before stay in force', seen)
    expect(line).toMatchObject({ level: 50, err: { message: expect.stringContaining(fault) } })
  })

  it('keeps the keys in force where their file is bad, and takes the configuration', async () => {
    const seen = await linesSoFar()
    writeFileSync(keys, `{"version":1,"keys":["${fresh.key}"]}`)
    writeFileSync(toml, CONFIG.replace('gate-one', 'gate-two'))
    await hangUp()
    expect(await gauge('haversack_reload_failed{what="keys"}')).toBe(1)
    expect(await hostInForce()).toBe('gate-two')
    expect([await status(old), await status(fresh)]).toEqual([200, 401])
    const line = await logLine('keys not read; the ones before stay in force', seen)
    expect(line).toMatchObject({ level: 50, err: { message: expect.stringContaining('keys.0') } })
    expect(service.stderr()).not.toContain(fresh.key)
  })
})
