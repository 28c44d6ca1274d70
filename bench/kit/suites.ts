import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** What one task came to. A provider's failure is no result. */
export interface Row {
  readonly task: string
  readonly solved: boolean
  readonly steps: number
  readonly cache_read: number
  readonly cache_write: number
  readonly usd: number
  readonly failure: string | null
}

/** Where and with what a suite runs. */
export interface Place {
  /** The base URL of the agent's requests. */
  readonly url: string
  /** The base URL of all others, such as those of a simulated user. */
  readonly provider: string
  readonly model: string
  readonly folder: string
}

export interface Suite {
  readonly program: string
  readonly version: string
  readonly install: string
  /** Arguments with which the program ends well if it can run. */
  readonly probe: readonly string[]
  /** Of the environment, besides the key. */
  readonly variables: readonly string[]
  /** Whether agents run in containers, for which 127.0.0.1 is another machine. */
  readonly inDocker: boolean
  readonly tasks: number
  /** Dollars of one arm and pass, as published with Sonnet 5 or GPT-4.1. */
  readonly dollars: number
  commands(place: Place): readonly (readonly string[])[]
  rows(folder: string): readonly Row[]
}

const AGENT_VERSION = '2.1.30'
/** Every tenth of the 500 tasks, as published. */
const SWE_TASKS = [
  'astropy__astropy- 12907 14365 8707',
  'django__django- 11095 11211 11477 11790 12050 12308 12858 13128 13363 13568 13810 14034 14349',
  'django__django- 14559 14792 15128 15380 15572 15930 16145 16502 16667 17087',
  'matplotlib__matplotlib- 22719 24570 25775',
  'psf__requests- 1142',
  'pydata__xarray- 3151 4966',
  'pylint-dev__pylint- 4551',
  'pytest-dev__pytest- 10051 7205',
  'scikit-learn__scikit-learn- 10844 13328 14894 9288',
  'sphinx-doc__sphinx- 7454 8120 8638 9602',
  'sympy__sympy- 13031 13877 15599 17318 19495 21379 23413',
].flatMap(line => line.split(' ').flatMap((id, at, [of]) => (at === 0 ? [] : [`${of}${id}`])))

const HARBOR = {
  ...{ program: 'harbor', version: '0.22.0', install: 'uv tool install harbor==0.22.0' },
  ...{ inDocker: true, probe: ['--version'], variables: [] },
  rows: harborRows,
}

export const SUITES: Readonly<Record<string, Suite>> = {
  swebench: {
    ...{ ...HARBOR, tasks: SWE_TASKS.length, dollars: 32 },
    commands: place => harborCommands('swebench-verified@1.0', SWE_TASKS, place),
  },
  'terminal-bench': {
    ...{ ...HARBOR, tasks: 89, dollars: 101 },
    commands: place => harborCommands('terminal-bench@2.0', [], place),
  },
  tau2: {
    ...{ program: 'tau2', version: 'v1.0.1', inDocker: false, tasks: 164, dollars: 80 },
    ...{ probe: ['check-data'], variables: ['OPENAI_API_KEY'] },
    install:
      'git clone -b v1.0.1 https://github.com/sierra-research/tau2-bench && ' +
      'uv tool install --python 3.12 -e ./tau2-bench',
    commands: ({ url, provider, model, folder }) =>
      ['airline', 'retail'].map(domain => [
        ...['run', '--domain', domain, '--agent-llm', model, '--user-llm', model],
        ...['--agent-llm-args', JSON.stringify({ api_base: url, temperature: 0 })],
        ...['--user-llm-args', JSON.stringify({ api_base: provider, temperature: 0 })],
        ...['--num-trials', '1', '--seed', '300', '--auto-resume'],
        ...['--save-to', join(folder, domain)],
      ]),
    rows: tauRows,
  },
}

/** A job that was begun goes on where it was; its results are kept. */
function harborCommands(dataset: string, tasks: readonly string[], { url, model, folder }: Place) {
  const job = join(folder, 'job')
  if (existsSync(join(job, 'config.json'))) return [['jobs', 'resume', '--job-path', job]]
  return [
    [
      ...['run', '-y', '-d', dataset, '-a', 'claude-code', '-m', model, '--env', 'docker'],
      ...['--ak', `version=${AGENT_VERSION}`, '--ae', `ANTHROPIC_BASE_URL=${url}`],
      ...['-n', '2', '--no-delete', '--max-retries', '2'],
      ...['--jobs-dir', folder, '--job-name', 'job'],
      ...tasks.flatMap(task => ['-i', task]),
    ],
  ]
}

/** Harbor's names; of a program's output that it does not know it says `UnknownApiError`. */
const PROVIDER =
  /^Api(RateLimit|UsageLimit|InternalServer|Overloaded|ConnectionClosed|ResponseStalled)Error:|^\w*ApiError: .*API Error: (429|5\d\d)\b/s
/** @param text an error's name and message: numbers of lines in its traces look like HTTP's */
const failureOf = (text: string) => (PROVIDER.test(text) ? text.slice(0, 200) : null)
const jsonOf = (path: string) => JSON.parse(readFileSync(path, 'utf8'))

function harborRows(folder: string): readonly Row[] {
  return globSync(join(folder, 'job', '*', 'result.json'))
    .toSorted()
    .map(path => {
      const { task_name, verifier_result, exception_info } = jsonOf(path)
      const log = join(dirname(path), 'agent', 'trajectory.json')
      const { final_metrics: of = {} } = existsSync(log) ? jsonOf(log) : {}
      return {
        ...{ task: task_name, solved: verifier_result?.rewards?.reward >= 1 },
        ...{ steps: of.total_steps ?? 0, usd: of.total_cost_usd ?? 0 },
        cache_read: of.extra?.total_cache_read_input_tokens ?? of.total_cached_tokens ?? 0,
        cache_write: of.extra?.total_cache_creation_input_tokens ?? 0,
        failure: exception_info
          ? failureOf(`${exception_info.exception_type}: ${exception_info.exception_message}`)
          : null,
      }
    })
}

function tauRows(folder: string): readonly Row[] {
  return globSync(join(folder, '{airline,retail}', 'results.json'))
    .toSorted()
    .flatMap(path => {
      const domain = basename(dirname(path))
      return jsonOf(path).simulations.map((each: Simulation) => ({
        ...{ task: `${domain}-${each.task_id}`, solved: (each.reward_info?.reward ?? 0) >= 1 },
        steps: each.messages.filter(({ role }) => role === 'assistant').length,
        ...{ cache_read: 0, cache_write: 0, usd: each.agent_cost ?? 0 },
        failure: each.termination_reason === 'infrastructure_error' ? 'of the provider' : null,
      }))
    })
}

interface Simulation {
  readonly task_id: string
  readonly reward_info?: { readonly reward: number } | null
  readonly agent_cost?: number | null
  readonly termination_reason?: string
  readonly messages: readonly { readonly role: string }[]
}

/** What a program prints; `null` if it is not there, or fails. */
export function outputOf(program: string, args: readonly string[]): string | null {
  try {
    return execFileSync(program, args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString()
  } catch {
    return null
  }
}
