import { answer, json, lines, type NumberedLine, numbered, type Solving } from './solving.ts'
import type { TaskKind } from './task.ts'
import { between, personName, pick, shuffle, wordPairs } from './words.ts'

interface Service {
  readonly name: string
  readonly team: string
  readonly settings: Readonly<Record<string, string | number | boolean>>
}

const pathOf = (name: string) => `services/${name}/settings.json`
const ZONES = ['north', 'south']

/** One setting of some services is raised, by what the files and an API say of them. */
export const settingsTask: TaskKind = {
  name: 'settings',
  make(random) {
    const teams = shuffle(
      random,
      wordPairs(random, 4).map(([a, b]) => `${a}-${b}`),
    )
    const leads = new Map(teams.map(team => [team, personName(random)]))
    const services = wordPairs(random, between(random, 24, 48)).map(([a, b], at): Service => {
      return {
        name: `${a}-${b}`,
        team: teams[at % teams.length]!,
        settings: {
          zone: pick(random, ZONES),
          replicas: between(random, 1, 9),
          timeout_ms: between(random, 5, 60) * 100,
          retries: between(random, 0, 5),
          log_level: pick(random, ['debug', 'info', 'warn']),
          tracing: random(2) === 0,
          queue: `${a}-queue-${between(random, 10, 99)}`,
          memory_mb: 256 * between(random, 1, 8),
        },
      }
    })
    const zone = pick(random, ZONES)
    const team = pick(
      random,
      teams.filter(each => services.some(s => s.team === each && s.settings['zone'] === zone)),
    )
    const timeout = between(random, 61, 99) * 100
    const isMeant = (each: Service) => each.team === team && each.settings['zone'] === zone
    const changed = services.map(each =>
      isMeant(each) ? { ...each, settings: { ...each.settings, timeout_ms: timeout } } : each,
    )
    const right = filesOf(changed)
    const text = `${leads.get(team)} ${changed.filter(isMeant).length}`
    const api = JSON.stringify(
      teams.map(name => ({
        name,
        lead: leads.get(name),
        services: services.filter(s => s.team === name).map(s => s.name),
      })),
      null,
      2,
    )
    return {
      prompt: `services/NAME/settings.json has the settings of a service. The API's /teams says which services a team has. Set timeout_ms to ${timeout} for all services of the team ${team} that run in zone ${zone}, and change nothing else. Answer with the name of the team's lead, a space, and the number of services that you changed.`,
      createWorld: () => ({
        files: filesOf(services),
        api: path => (path === '/teams' ? api : null),
      }),
      answer: text,
      async grade({ files, answer: given }) {
        if (given !== text) return `the answer is ${given}, not ${text}`
        const paths = new Set([...files.keys(), ...right.keys()])
        const wrong = [...paths].find(path => files.get(path) !== right.get(path))
        return wrong === undefined ? null : `${wrong} is not as it should be`
      },
    }
  },
  solve(prompt) {
    const found =
      /timeout_ms to (\d+) for all services of the team (\S+) that run in zone (\w+)/.exec(prompt)
    return found === null ? null : solve(found[1]!, found[2]!, found[3]!)
  },
}

function filesOf(services: readonly Service[]): Map<string, string> {
  return new Map(
    services.map(({ name, settings }) => [pathOf(name), `${JSON.stringify(settings, null, 2)}\n`]),
  )
}

interface Team {
  readonly name: string
  readonly lead: string
  readonly services: readonly string[]
}

function* solve(timeout: string, team: string, zone: string): Solving<void> {
  const find = (all: readonly Team[]) => all.find(({ name }) => name === team)!
  const services = yield* json(
    { tool: 'api', args: { path: '/teams' } },
    (all: readonly Team[]) => [...find(all).services],
  )
  const inZone = yield* lines({ tool: 'search', args: { text: `"zone": "${zone}"` } }, hits =>
    services.filter(name => hits.some(hit => hit.startsWith(`${pathOf(name)}:`))),
  )
  for (const name of inZone) {
    const path = pathOf(name)
    const old = yield* numbered({ tool: 'read', args: { path } }, lineOfTimeout)
    const fresh = old.replace(/\d+/, timeout)
    yield* lines({ tool: 'edit', args: { path, old, new: fresh } }, () => null)
    yield* numbered({ tool: 'read', args: { path } }, lineOfTimeout)
  }
  // The lead is in the first result.
  const lead = yield* json(0, (all: readonly Team[]) => find(all).lead)
  yield* answer(`${lead} ${inZone.length}`)
}

const lineOfTimeout = (read: readonly NumberedLine[]) =>
  read.find(({ text }) => text.includes('"timeout_ms": '))?.text ?? ''
