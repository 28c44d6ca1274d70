import { createRandom, type Random } from '../support/random.ts'
import { hex, moment, NAMES, pick, TEAMS, version } from './words.ts'

/** INI, TOML, and lines of keys with values. */
export function settingsTexts(): readonly string[] {
  const kinds = [ini, unit, environment, properties, cargoLock, project, fields, sysctl]
  return Array.from({ length: 64 }, (_, index) => {
    return kinds[index % kinds.length]!(createRandom(10_000 + index))
  })
}

const many = (random: Random, least: number, row: (at: number) => string, end = '\n') =>
  Array.from({ length: least + random(12) }, (_, at) => row(at)).join(end)

function ini(random: Random): string {
  return `; Services of the shop.\n${many(
    random,
    3,
    at => `[service:${pick(random, NAMES)}-${at}]
host = 10.0.0.${random(250)}
port = ${8000 + random(900)}
team = ${pick(random, TEAMS)}
retries = ${random(5)}
`,
  )}`
}

function unit(random: Random): string {
  const name = pick(random, NAMES)
  return `[Unit]
Description=The ${name} of the shop
After=network-online.target
Wants=network-online.target

[Service]
Type=notify
ExecStart=/usr/bin/${name} --config /etc/shop/${name}.toml
Restart=on-failure
RestartSec=${1 + random(30)}
User=shop
LimitNOFILE=${1024 * (1 + random(64))}

[Install]
WantedBy=multi-user.target
`
}

function environment(random: Random): string {
  return `${many(random, 10, at => `SHOP_${pick(random, NAMES).toUpperCase()}_${at}_URL=https://${pick(random, NAMES)}.example.org:${8000 + random(900)}`)}\n`
}

function properties(random: Random): string {
  return `# Generated.\n${many(random, 12, () => `shop.${pick(random, NAMES)}.${pick(random, ['timeout', 'size', 'enabled', 'url'])}=${random(9000)}`)}\n`
}

function cargoLock(random: Random): string {
  const all = many(random, 8, () => {
    const other =
      random(2) === 0
        ? ''
        : `dependencies = [\n "${pick(random, NAMES)}",\n "${pick(random, NAMES)}",\n]\n`
    return `[[package]]
name = "${pick(random, NAMES)}"
version = "${version(random)}"
source = "registry+https://index.example.org/crates"
checksum = "${hex(random, 64)}"
${other}`
  })
  return `# This file is generated.\n# It is not intended for manual editing.\nversion = 4\n\n${all}`
}

function project(random: Random): string {
  const name = pick(random, NAMES)
  return `[project]
name = "${name}"
version = "${version(random)}"
requires-python = ">=3.${9 + random(5)}"
dependencies = [
${many(random, 4, () => `    "${pick(random, NAMES)}>=${version(random)}",`)}
]

[tool.lint]
line-length = ${80 + random(40)}
select = ["E", "F", "I"]

[tool.tests]
testpaths = ["tests"]
`
}

/** Log lines of keys with values. */
function fields(random: Random): string {
  return `${many(random, 14, () => `time=${moment(random)} level=${pick(random, ['info', 'warn'])} service=${pick(random, NAMES)} msg="${pick(random, ['request served', 'cache missed', 'retry'])}" status=${pick(random, [200, 404, 500])} took=${random(900)}ms trace=${hex(random, 16)}`)}\n`
}

function sysctl(random: Random): string {
  return `${many(random, 20, () => `net.ipv4.${pick(random, NAMES)}_${pick(random, ['max', 'min', 'default'])} = ${random(90_000)}`)}\n`
}
