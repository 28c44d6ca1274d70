import { api, writer } from './api-task.ts'
import { answer, json, lines, type NumberedLine, numbered, type Solving } from './solving.ts'
import { type TaskKind, taskOf } from './task.ts'
import { between, personName, pick, wordPairs } from './words.ts'

const pathOf = (name: string) => `services/${name}/settings.json`
const ZONES = ['north', 'south']

interface Team {
  readonly name: string
  readonly lead: string
  readonly services: readonly string[]
}

const lineOfTimeout = (read: readonly NumberedLine[]) =>
  read.find(({ text }) => text.includes('"timeout_ms": '))?.text ?? ''

/** One setting of some services is raised, by what the files and an API say of them. */
export const settingsTask: TaskKind = {
  name: 'settings',
  make(random) {
    const services = wordPairs(random, between(random, 24, 48)).map(([a, b]) => {
      const settings = {
        ...{ zone: pick(random, ZONES), replicas: between(random, 1, 9) },
        ...{ timeout_ms: between(random, 5, 60) * 100, retries: between(random, 0, 5) },
        ...{ log_level: pick(random, ['debug', 'info', 'warn']), tracing: random(2) === 0 },
        ...{ queue: `${a}-queue-${between(random, 10, 99)}`, memory_mb: 256 * (1 + random(8)) },
      }
      return { name: `${a}-${b}`, settings }
    })
    const teams = wordPairs(random, 4).map(([a, b], at) => ({
      ...{ name: `${a}-${b}`, lead: personName(random) },
      services: services.flatMap(({ name }, n) => (n % 4 === at ? name : [])),
    }))
    const chosen = pick(random, services)
    const { zone } = chosen.settings
    const team = teams.find(each => each.services.includes(chosen.name))!
    const timeout = between(random, 61, 99) * 100
    const isMeant = ({ name, settings }: typeof chosen) =>
      settings.zone === zone && team.services.includes(name)
    const filesOf = (timeoutOf: (service: typeof chosen) => number) =>
      new Map(
        services.map(each => {
          const settings = { ...each.settings, timeout_ms: timeoutOf(each) }
          return [pathOf(each.name), `${JSON.stringify(settings, null, 2)}\n`]
        }),
      )
    const prompt = `services/NAME/settings.json has the settings of a service. The API's /teams says which services a team has. Set timeout_ms to ${timeout} for all services of the team ${team.name} that run in zone ${zone}, and change nothing else. Answer with the name of the team's lead, a space, and the number of services that you changed.`
    const said = writer(random)(teams)
    return taskOf(prompt, `${team.lead} ${services.filter(isMeant).length}`, {
      files: filesOf(({ settings }) => settings.timeout_ms),
      right: filesOf(each => (isMeant(each) ? timeout : each.settings.timeout_ms)),
      createApi: () => path => (path === '/teams' ? said : null),
    })
  },
  prompt: /timeout_ms to (\d+) for all services of the team (\S+) that run in zone (\w+)/,
  *solve(timeout = '', team = '', zone = ''): Solving<void> {
    const find = (all: readonly Team[]) => all.find(({ name }) => name === team)!
    const own = yield* json(api('/teams'), (all: readonly Team[]) => [...find(all).services])
    const search = { tool: 'search', args: { text: `"zone": "${zone}"` } }
    const meant = yield* lines(search, hits =>
      own.filter(name => hits.some(hit => hit.startsWith(`${pathOf(name)}:`))),
    )
    for (const name of meant) {
      const path = pathOf(name)
      const old = yield* numbered({ tool: 'read', args: { path } }, lineOfTimeout)
      const fresh = old.replace(/\d+/, timeout)
      yield* lines({ tool: 'edit', args: { path, old, new: fresh } }, () => null)
      yield* numbered({ tool: 'read', args: { path } }, lineOfTimeout)
    }
    // The lead is in the first result.
    const lead = yield* json(0, (all: readonly Team[]) => find(all).lead)
    yield* answer(`${lead} ${meant.length}`)
  },
}
