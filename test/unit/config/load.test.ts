import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { isLoopback } from '../../../src/config/loopback.ts'
import { minedModelsOf } from '../../../src/config/mined-models.ts'
import { ConfigError } from '../../../src/config/read-toml.ts'
import { cacheFolder, homeFolder, userDataFolder } from '../../../src/config/user-folders.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(toml: string): string {
  const path = join(folder, 'test.toml')
  writeFileSync(path, toml)
  return path
}

function faults(options: Parameters<typeof loadConfig>[0]): string {
  try {
    loadConfig(options)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return ''
}

// Contract, section 7: mined models may forbid and never permit.
describe('mined models', () => {
  const data = mkdtempSync(join(folder, 'mined-'))
  const mined = join(data, 'mined.toml')
  const load = (text: string) => {
    writeFileSync(mined, text)
    return { env: { HAVERSACK_DATA_DIR: data } }
  }

  it('are read from their own file, with the configuration', () => {
    const model = 'cost_model = { typical_kb = 2.5 }\nspeculate = false\n'
    const config = loadConfig(load(`[tools.get]\n${model}side_effect_class = "mutates_local"`))
    expect(minedModelsOf(config)).toEqual({
      get: {
        cost_model: { typical_kb: 2.5 },
        ...{ speculate: false, side_effect_class: 'mutates_local' },
      },
    })
    expect(minedModelsOf(loadConfig({ env: {} }))).toEqual({})
  })

  it.each([
    ['[tools.get]\nside_effect_class = "read_only"', 'tools.get: mined models may not say'],
    ['[tools.get]\nside_effect_class = "pure"', 'tools.get: mined models may not say'],
    ['[tools.get]\nspeculate = true', 'tools.get: mined models may forbid'],
    ['[tools.get]\nworth = 1', 'tools.get: Unrecognized key'],
    ['[other]', '(top level): Unrecognized key'],
    ['[', 'line 1'],
  ])('of %j are refused', (text, fault) => {
    expect(faults(load(text))).toContain(`mined.toml: ${fault}`)
  })
})

describe('the configuration', () => {
  it('the configuration needs no file and no variable', () => {
    expect(loadConfig({ env: {} })).toMatchObject({
      host: '127.0.0.1',
      port: 8787,
      limits: { max_body_bytes: 16 * 1024 * 1024 },
    })
  })

  it('takes the file, the environment over it, and the command line over both', () => {
    const path = file('port = 1000\nhost = "::1"\n[workers]\ncount = 3\n[log]\nlevel = "warn"\n')
    const env = { HAVERSACK_CONFIG: path, HAVERSACK_PORT: '2000', HAVERSACK_WORKERS: '5' }
    expect(loadConfig({ env })).toMatchObject({
      host: '::1',
      port: 2000,
      workers: { count: 5 },
      log: { level: 'warn' },
    })
    expect(loadConfig({ env, overrides: { port: 0 } }).port).toBe(0)
  })

  it('names the line of a table that is none, or that lacks a key', () => {
    const path = file('port = 1\n[limit]\nx = 1\n[mcp.servers.a]\nargs = []\n')
    const message = faults({ env: {}, file: path })
    expect(message).toContain(`${path}: line 2: (top level): limit is no setting`)
    expect(message).toContain(`${path}: line 4: mcp.servers.a: must have either url or command`)
  })

  it('has a fault for each variable that it does not know', () => {
    const env = { HAVERSACK_REDIS_URL: 'x', HAVERSACK_PROT: '1', HAVERSACK_DATA_DIR: '/data' }
    const message = faults({ env })
    expect(message).toContain('HAVERSACK_REDIS_URL')
    expect(message).toContain('HAVERSACK_PROT')
    expect(message).not.toContain('HAVERSACK_DATA_DIR')
  })

  it('counts an empty variable as unset', () => {
    expect(loadConfig({ env: { HAVERSACK_PORT: '', HAVERSACK_CONFIG: '' } }).port).toBe(8787)
  })

  it('reports every fault at once, with the name of the variable', () => {
    const path = file('prot = 1\n[limits]\nmax_queue_wait_ms = 0\n')
    const message = faults({
      env: { HAVERSACK_CONFIG: path, HAVERSACK_PORT: 'http', HAVERSACK_LOG_LEVEL: 'loud' },
    })
    for (const part of ['prot', 'max_queue_wait_ms', 'HAVERSACK_PORT', 'HAVERSACK_LOG_LEVEL']) {
      expect(message).toContain(part)
    }
  })

  it('has value models of tools, and faults for those that contradict themselves', () => {
    const path = file('[enrichment]\ncost_aware = true\n[tools."*"]\npoll_ttl_s = 5\n')
    const { enrichment, tools } = loadConfig({ env: { HAVERSACK_CONFIG: path } })
    expect([enrichment.cost_aware, tools]).toEqual([true, { '*': { poll_ttl_s: 5 } }])
    const wrong = file('[tools.Edit]\nspeculate = true\n')
    expect(faults({ env: { HAVERSACK_CONFIG: wrong } })).toContain(
      'tools.Edit.speculate: must not be true, since the tool is mutates_local',
    )
    const unknown = file('[tools.Edit]\nworth = 1\n')
    expect(faults({ env: { HAVERSACK_CONFIG: unknown } })).toContain('tools.Edit')
  })

  it('says where a file breaks the syntax, or that there is none', () => {
    expect(faults({ env: { HAVERSACK_CONFIG: file('port = = 1') } })).toContain(
      'test.toml: line 1: ',
    )
    expect(faults({ env: { HAVERSACK_CONFIG: join(folder, 'none.toml') } })).toContain(
      'cannot be read',
    )
  })

  it('listens where others can reach it only when told so', () => {
    const env = { HAVERSACK_HOST: '0.0.0.0' }
    expect(faults({ env })).toContain('--insecure')
    expect(loadConfig({ env, insecure: true }).host).toBe('0.0.0.0')
  })

  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.8.9.1', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.0.0.1.example.com', false],
    ['example.com', false],
  ])('knows whether %s is loopback: %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected)
  })
})

describe('keys of the store', () => {
  const key = (id: string) => `${id}:${Buffer.alloc(32, 7).toString('base64')}`
  const secret = (text: string) => {
    const path = join(folder, 'secret')
    writeFileSync(path, text)
    return path
  }

  it('come from a file as from the variable', () => {
    const text = `${key('k1')},${key('k2')}\n`
    const { store } = loadConfig({ env: { HAVERSACK_STORE_KEYS_FILE: secret(text) } })
    expect(store.encryption_keys.map(({ id }) => id)).toEqual(['k1', 'k2'])
    expect(store.encryption_keys[0]?.key).toEqual(Buffer.alloc(32, 7))
  })

  it.each([
    ['an empty file', () => ({ HAVERSACK_STORE_KEYS_FILE: secret(' \n') }), 'is empty'],
    ['no file', () => ({ HAVERSACK_STORE_KEYS_FILE: '/nowhere' }), 'cannot be read'],
    [
      'both',
      () => ({ HAVERSACK_STORE_KEYS: key('a'), HAVERSACK_STORE_KEYS_FILE: secret(key('b')) }),
      'is set beside',
    ],
    ['one id twice', () => ({ HAVERSACK_STORE_KEYS: `${key('a')},${key('a')}` }), 'the same id'],
    ['a short key', () => ({ HAVERSACK_STORE_KEYS: 'a:c2hvcnQ=' }), 'must be ID:BASE64'],
  ])('are a fault with %s, which is not quoted', (_, env, fault) => {
    const message = faults({ env: env() })
    expect(message).toContain(fault)
    expect(message).not.toContain('c2hvcnQ')
  })

  it('need a store with room for the largest body', () => {
    const env = { HAVERSACK_CONFIG: file('[store]\nmax_bytes = 100_000_000\n') }
    expect(faults({ env })).toContain('store.max_bytes')
  })
})

describe('an upstream', () => {
  it.each([
    'ftp://a.test',
    'a.test',
    'https://u:p@a.test',
    'https://a.test/?q',
    'https://a.test/#f',
  ])('cannot be %s', url => {
    expect(faults({ env: { HAVERSACK_OPENAI_URL: url } })).toContain('HAVERSACK_OPENAI_URL')
  })

  it('comes from the environment', () => {
    const env = { HAVERSACK_ANTHROPIC_URL: 'https://a.test/x' }
    expect(loadConfig({ env }).proxy).toMatchObject({ anthropic_url: 'https://a.test/x' })
  })
})

describe('what the environment is made of', () => {
  it('passes over what a cluster makes of services, and nothing else', () => {
    const env = {
      HAVERSACK_SERVICE_HOST: '10.0.0.1',
      HAVERSACK_SERVICE_PORT: '8787',
      HAVERSACK_SERVICE_PORT_HTTP: '8787',
      HAVERSACK_PORT: 'tcp://10.0.0.1:8787',
      HAVERSACK_PORT_8787_TCP: 'tcp://10.0.0.1:8787',
      HAVERSACK_PORT_8787_TCP_PROTO: 'tcp',
      HAVERSACK_PORT_8787_TCP_PORT: '8787',
      HAVERSACK_PORT_8787_TCP_ADDR: '10.0.0.1',
      HAVERSACK_REDIS_SERVICE_HOST: '10.0.0.2',
      HAVERSACK_REDIS_PORT: 'tcp://10.0.0.2:6379',
      HAVERSACK_REDIS_PORT_6379_TCP_ADDR: '10.0.0.2',
    }
    expect(loadConfig({ env })).toEqual(loadConfig({ env: {} }))
    expect(faults({ env: { HAVERSACK_PORT: 'http://10.0.0.1' } })).toContain('HAVERSACK_PORT')
    for (const name of ['HAVERSACK_SERVICE', 'HAVERSACK_PORTS', 'HAVERSACK_PORT_8787'])
      expect(faults({ env: { [name]: 'tcp' } })).toContain(`${name}: this version has no such`)
  })

  it('has the home of the user for ~, and no other', () => {
    const { HOME } = process.env
    onTestFinished(() => {
      process.env['HOME'] = HOME
    })
    process.env['HOME'] = folder
    const dataOf = (HAVERSACK_DATA_DIR: string) =>
      loadConfig({ env: { HAVERSACK_DATA_DIR } }).data_dir
    expect(['~', '~/x/y', '~other/x', 'x/~', './~'].map(dataOf)).toEqual([
      ...[join(folder), join(folder, 'x/y')],
      ...['~other/x', 'x/~', './~'],
    ])
    writeFileSync(join(folder, 'home.toml'), 'port = 4')
    expect(loadConfig({ env: { HAVERSACK_CONFIG: '~/home.toml' } }).port).toBe(4)
    expect(loadConfig({ env: { HAVERSACK_CONFIG: '/none' }, file: '~/home.toml' }).port).toBe(4)
  })

  it('keeps data in a folder of the user, never in the working folder', () => {
    const home = homeFolder()!
    expect(userDataFolder({ XDG_DATA_HOME: '/data' })).toBe('/data/haversack')
    const usual = join(home, '.local/share/haversack')
    for (const env of [{}, { XDG_DATA_HOME: '' }, { XDG_DATA_HOME: 'relative' }])
      expect(userDataFolder(env)).toBe(usual)
    expect(cacheFolder({})).toBe(join(home, '.cache/haversack'))
    expect(cacheFolder({ XDG_CACHE_HOME: '/caches' })).toBe('/caches/haversack')
    expect(cacheFolder({ HAVERSACK_CACHE_DIR: '~/packed' })).toBe(join(home, 'packed'))
  })
})

describe('config.example.toml', () => {
  const text = readFileSync(new URL('../../../config.example.toml', import.meta.url), 'utf8')

  it('is valid and has the default of each key that has one', () => {
    const plain = parse(text.replace(/^#(?=[\w[])/gm, '')) as {
      readonly store: { readonly redis: object }
    }
    const example = configSchema.parse(plain)
    const { data_dir, keys_file, workers } = example
    const { anthropic_url, openai_url, redeem } = example.proxy
    const withoutDefault = {
      data_dir,
      keys_file,
      fingerprints: { team: example.fingerprints.team },
      ui: { keep_texts: example.ui.keep_texts },
      workers: { count: workers.count },
      // Its URL is parsed, so the text is given again.
      store: { redis: plain.store.redis },
      proxy: { anthropic_url, openai_url, redeem },
    }
    expect(example).toEqual(configSchema.parse(withoutDefault))
  })

  it('changes nothing as it is', () => {
    expect(parse(text)).toEqual({})
  })
})
