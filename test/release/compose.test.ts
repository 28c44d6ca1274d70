import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { loadConfig } from '../../src/config/load.ts'
import { VERSION } from '../../src/runtime/version.ts'
import { parseDockerfile } from '../support/image/parse-dockerfile.ts'

const root = new URL('../../', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, root), 'utf8')

interface Service {
  readonly image: string
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly ports?: readonly string[]
  readonly secrets?: readonly string[]
  readonly stop_grace_period?: string
}

const text = read('compose.yaml')
const { services, secrets, volumes } = parseYaml(text) as {
  readonly services: Readonly<Record<'haversack' | 'prometheus' | 'grafana', Service>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
  readonly volumes: Readonly<Record<string, null>>
}
const { haversack, prometheus, grafana } = services

/** The file of this repository that a container sees under a path. */
function mounted({ volumes }: Service, path: string): string {
  const found = volumes.map(each => each.split(':')).find(([, target]) => target === path)
  return read(found?.[0] ?? '')
}

it('mounts what is there', () => {
  const sources = Object.values(services).flatMap(each => each.volumes.map(v => v.split(':')[0]!))
  for (const source of sources) {
    if (source.startsWith('./')) expect(existsSync(new URL(source, root)), source).toBe(true)
    else expect(volumes).toHaveProperty(source)
  }
})

it('takes its keys and passwords from .env, and has none of its own', () => {
  const example = read('.env.example')
  const asked = [...text.matchAll(/\$\{(\w+)(:[-?])?/g)]
  expect([...new Set(asked.map(([, name]) => name))].sort()).toEqual(
    [...example.matchAll(/^#?(\w+)=/gm)].map(([, name]) => name).sort(),
  )
  for (const [, name, kind] of asked) {
    expect(kind, name).toBe(name === 'HAVERSACK_ADDRESS' ? ':-' : ':?')
  }
  expect(/^GRAFANA_PASSWORD=$/m.test(example)).toBe(true)
  for (const each of [...(haversack.ports ?? []), ...(grafana.ports ?? [])]) {
    expect(each).toMatch(/^\$\{HAVERSACK_ADDRESS:-127\.0\.0\.1\}:/)
  }
  expect(prometheus).not.toHaveProperty('ports')
})

it('starts the image of this version with a configuration without faults', () => {
  const { HAVERSACK_CONFIG, HAVERSACK_KEYS_FILE, ...env } = haversack.environment ?? {}
  const file = haversack.volumes.find(each => each.split(':')[1] === HAVERSACK_CONFIG)
  const config = loadConfig({
    env: {
      ...env,
      HAVERSACK_HOST: '0.0.0.0',
      HAVERSACK_KEYS_FILE: HAVERSACK_KEYS_FILE!,
      HAVERSACK_CONFIG: new URL(file?.split(':')[0] ?? '', root).pathname,
    },
  })
  expect(config.proxy.anthropic_url).toBe('https://api.anthropic.com')
  expect(config.proxy.openai_url).toBe('https://api.openai.com')
  const { drain_grace_ms, drain_timeout_ms } = config.limits
  const grace = Number(/^(\d+)s$/.exec(haversack.stop_grace_period ?? '')?.[1])
  expect(grace * 1000).toBeGreaterThanOrEqual(drain_grace_ms + drain_timeout_ms + 5_000)
  expect(haversack.image).toBe(`haversack:${VERSION}`)
  const data = parseDockerfile(read('Dockerfile'))
    .stages.at(-1)
    ?.instructions.find(({ name }) => name === 'VOLUME')?.text
  expect(haversack.volumes).toContain(`haversack:${data}`)
  expect(HAVERSACK_KEYS_FILE).toMatch(new RegExp(`^${data}/`))
})

it('shows Prometheus the metrics, under the labels that the dashboard asks for', () => {
  const scrape = parseYaml(mounted(prometheus, '/etc/prometheus/prometheus.yml')).scrape_configs[0]
  expect(prometheus.secrets).toEqual(Object.keys(secrets))
  expect(scrape.authorization.credentials_file).toBe(`/run/secrets/${prometheus.secrets?.[0]}`)
  const [target] = scrape.static_configs
  expect(target.targets).toEqual(['haversack:8787'])
  const config = mounted(haversack, '/etc/haversack/haversack.toml')
  expect(config).toContain('allowed_hosts = ["haversack"]')
  const board = mounted(grafana, '/var/lib/grafana/dashboards/haversack.json')
  expect(board).toContain(`job=\\"${scrape.job_name}\\"`)
  expect(target.labels).toHaveProperty('namespace')
  const providers = parseYaml(
    mounted(grafana, '/etc/grafana/provisioning/dashboards/haversack.yml'),
  )
  expect(providers.providers[0].options.path).toBe('/var/lib/grafana/dashboards')
})
