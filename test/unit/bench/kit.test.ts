import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { analyse, COLUMNS } from '../../../bench/kit/analyse.ts'
import { missingFor, readCounters, runPass, type Tools } from '../../../bench/kit/run.ts'
import { SUITES } from '../../../bench/kit/suites.ts'

const root = mkdtempSync(join(tmpdir(), 'kit-'))
afterAll(() => rmSync(root, { recursive: true }))
afterEach(() => vi.unstubAllEnvs())

const SWE = SUITES['swebench']!
const OPTIONS = {
  ...{ suite: 'swebench', arm: 'lossless', model: 'anthropic/m', 'key-env': 'KIT_KEY' },
  ...{ address: '192.0.2.7', url: 'https://provider.example', peer: '', pass: 1 },
}
const WORKED = { exchanges: 9, rewritten: 5, omitted: 0 }
/** Python's trace of a failure has numbers of lines that look like HTTP's. */
const TRACE = 'File "trial.py", line 529, in run'
/** What is no result of the arm: the provider failed, or no step is on record. */
const FAILURES = new Map([
  [3, { exception_type: 'ApiOverloadedError', exception_message: 'Command failed' }],
  [5, { exception_type: 'UnknownApiError', exception_message: 'said: API Error: 529 {}' }],
  [7, { exception_type: 'AgentTimeoutError', exception_message: 'after 3000 s' }],
  [9, { exception_type: 'UnknownApiError', exception_message: 'said: API Error: 400 {}' }],
])

/** A stand-in for the suite's program, which has results of so many tasks. */
function toolsFor(folder: string, tasks: number, counters = WORKED, arm = OPTIONS.arm) {
  const commands: (readonly string[])[] = []
  const environments: NodeJS.ProcessEnv[] = []
  const state = { tasks, closed: 0, code: 0, ports: [] as string[], counters }
  const tools: Tools = {
    output: program => (program === 'harbor' ? '0.22.0\n' : 'ok'),
    async run(program, args, env) {
      commands.push([program, ...args])
      environments.push(env)
      const job = join(folder, 'swebench', arm, 'pass-1', 'job')
      mkdirSync(job, { recursive: true })
      writeFileSync(join(job, 'config.json'), '{}')
      for (let at = 0; at < state.tasks; at++) writeTrial(join(job, `task-${at}`), at)
      return state.code
    },
    async serve(_arm, host, upstream, port) {
      expect([host, upstream]).toEqual([OPTIONS.address, OPTIONS.url])
      state.ports.push(port)
      return {
        url: 'http://192.0.2.7:4321',
        counters: async () => state.counters,
        async close() {
          state.closed++
        },
      }
    },
  }
  return { tools, commands, environments, state }
}

function writeTrial(folder: string, at: number) {
  mkdirSync(join(folder, 'agent'), { recursive: true })
  const result = {
    ...{ task_name: `task-${at}`, verifier_result: { rewards: { reward: at % 2 } } },
    exception_info: FAILURES.has(at) ? { ...FAILURES.get(at), exception_traceback: TRACE } : null,
  }
  writeFileSync(join(folder, 'result.json'), JSON.stringify(result))
  const extra = { total_cache_creation_input_tokens: 7, total_cache_read_input_tokens: 90 }
  if (at === 11) return
  const final_metrics = { total_steps: 10 + at, total_cost_usd: 0.5, extra }
  writeFileSync(join(folder, 'agent', 'trajectory.json'), JSON.stringify({ final_metrics }))
}

describe('what is missing for a run', () => {
  const nothing: Tools = { ...toolsFor('', 0).tools, output: () => null }

  it('is said in a sentence each, before anything starts', () => {
    const bare = { ...OPTIONS, folder: '', arm: 'fast', model: '' }
    const said = missingFor(bare, SWE, nothing, {})
    const direct = { ...OPTIONS, folder: '', suite: 'tau2', arm: 'direct' }
    expect(missingFor(direct, SUITES['tau2']!, nothing, { KIT_KEY: 'k' })).toEqual([
      'OPENAI_API_KEY is not set; tau2 grades with it',
      expect.stringContaining('tau2 is not installed: git clone -b v1.0.1'),
    ])
    expect(said.map(each => each.split(' ')[0])).toEqual([
      ...['--arm', '--model', '--key-env', 'harbor', 'Docker'],
    ])
    expect(missingFor({ ...OPTIONS, folder: '', arm: 'peer' }, SWE, nothing, {})).toContain(
      "--peer is the other proxy's base URL",
    )
  })

  it('is an address that containers do not reach', () => {
    const { tools } = toolsFor('', 0)
    const at = (address: string) =>
      missingFor({ ...OPTIONS, folder: '', address }, SWE, tools, { KIT_KEY: 'k' })
    expect(at('127.0.0.1')).toEqual([expect.stringContaining('--address is an address')])
    expect(at('203.0.113.99')).toHaveLength(1)
  })

  it('is the pinned version of the program', () => {
    const tools: Tools = { ...toolsFor('', 0).tools, output: () => '0.9.1' }
    const direct = { ...OPTIONS, folder: '', arm: 'direct' }
    expect(missingFor(direct, SWE, tools, { KIT_KEY: 'k' })).toEqual([
      'harbor must be 0.22.0, and is 0.9.1: uv tool install harbor==0.22.0',
    ])
  })
})

describe('a pass', () => {
  it('runs the published tasks through the arm, and keeps what they came to', async () => {
    vi.stubEnv('KIT_KEY', 'planted-secret')
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://left.example')
    const folder = join(root, 'whole')
    const { tools, commands, environments, state } = toolsFor(folder, 50)
    const file = await runPass({ ...OPTIONS, folder }, SWE, tools)
    expect(commands).toHaveLength(1)
    expect(commands[0]!.filter(each => each === '-i')).toHaveLength(50)
    expect(commands[0]).toContain('django__django-13128')
    expect(commands[0]).toContain('ANTHROPIC_BASE_URL=http://192.0.2.7:4321/anthropic')
    expect(environments[0]).toMatchObject({ ANTHROPIC_API_KEY: 'planted-secret' })
    expect(environments[0]).not.toHaveProperty('ANTHROPIC_BASE_URL')
    expect(commands[0]!.join(' ')).not.toContain('planted-secret')
    const text = readFileSync(file, 'utf8')
    expect(text).not.toContain('planted-secret')
    const result = JSON.parse(text)
    expect(result).toMatchObject({ harbor: '0.22.0', counters: WORKED })
    expect(result.excluded.toSorted()).toEqual(['task-11', 'task-3', 'task-5'])
    expect(result.protocol).toMatch(/^[\da-f]{64}$/)
    expect(result.rows).toHaveLength(47)
    expect(result.rows[0]).toBe('lossless,task-0,0,10,90,7,0.5')
    expect(state.closed).toBe(1)
    await runPass({ ...OPTIONS, folder }, SWE, tools)
    expect(commands).toHaveLength(1)
  })

  it('goes on where it was, and has no result before all tasks have one', async () => {
    const folder = join(root, 'torn')
    const { tools, commands, state } = toolsFor(folder, 20)
    state.code = 1
    await expect(runPass({ ...OPTIONS, folder }, SWE, tools)).rejects.toThrow('run it again')
    state.code = 0
    await expect(runPass({ ...OPTIONS, folder }, SWE, tools)).rejects.toThrow('20 of 50 tasks')
    state.tasks = 50
    state.counters = { exchanges: 1, rewritten: 0, omitted: 0 }
    const file = await runPass({ ...OPTIONS, folder }, SWE, tools)
    expect(JSON.parse(readFileSync(file, 'utf8')).counters).toEqual({
      ...{ exchanges: 19, rewritten: 10, omitted: 0 },
    })
    const job = join(folder, 'swebench', 'lossless', 'pass-1', 'job')
    const resumed = ['harbor', 'jobs', 'resume', '--job-path', job]
    expect(commands.slice(1)).toEqual([resumed, resumed])
    expect(state.closed).toBe(3)
    expect(state.ports).toEqual(['0', '4321', '4321'])
  })

  it.each([
    [
      'passthrough',
      { exchanges: 0, rewritten: 0, omitted: 0 },
      { exchanges: 9, rewritten: 0, omitted: 0 },
    ],
    ['passthrough', { exchanges: 9, rewritten: 1, omitted: 0 }, null],
    ['lossless', { exchanges: 9, rewritten: 0, omitted: 0 }, WORKED],
    ['lossless', { exchanges: 9, rewritten: 5, omitted: 1 }, null],
    [
      'clearing',
      { exchanges: 9, rewritten: 5, omitted: 0 },
      { exchanges: 9, rewritten: 5, omitted: 7 },
    ],
    ['clearing', { exchanges: 9, rewritten: 0, omitted: 7 }, null],
  ])('of %s is refused with the counters %j', async (arm, refused, taken) => {
    for (const [counters, name] of [
      [refused, 'idle'],
      [taken, 'works'],
    ] as const) {
      if (counters === null) continue
      const folder = join(root, `${arm}-${name}-${refused.rewritten}`)
      const pass = runPass(
        { ...OPTIONS, arm, folder },
        SWE,
        toolsFor(folder, 50, counters, arm).tools,
      )
      if (counters === refused) await expect(pass).rejects.toThrow('nothing of its own')
      else await expect(pass).resolves.toContain('result.json')
    }
  })

  it('of the other suite runs both domains, and reads both', () => {
    const folder = join(root, 'tau')
    mkdirSync(join(folder, 'airline'), { recursive: true })
    const url = 'http://127.0.0.1:1/anthropic'
    const place = { url, provider: 'https://provider.example', model: 'anthropic/m', folder }
    const commands = SUITES['tau2']!.commands(place)
    expect(commands.map(each => each[2])).toEqual(['airline', 'retail'])
    const messages = [{ role: 'user' }, { role: 'assistant' }, { role: 'assistant' }]
    for (const args of commands) {
      const llmArgs = (of: string) => JSON.parse(args[args.indexOf(`--${of}-llm-args`) + 1]!)
      expect(llmArgs('agent').api_base).toBe(url)
      expect(llmArgs('user').api_base).toBe(place.provider)
    }
    const simulations = [
      { task_id: '4', reward_info: { reward: 1 }, agent_cost: 0.2, messages },
      { task_id: '5', termination_reason: 'infrastructure_error', messages: [] },
    ]
    writeFileSync(join(folder, 'airline', 'results.json'), JSON.stringify({ simulations }))
    expect(SUITES['tau2']!.rows(folder)).toMatchObject([
      { task: 'airline-4', solved: true, steps: 2, usd: 0.2, failure: null },
      { task: 'airline-5', failure: expect.any(String) },
    ])
  })
})

describe('counters', () => {
  it('are read from the metrics of the service', () => {
    const metrics = [
      '# HELP haversack_proxy_texts_total Texts',
      'haversack_proxy_exchanges_total{vendor="anthropic",outcome="answered"} 4',
      'haversack_proxy_texts_total{vendor="anthropic",result="rewritten"} 3',
      'haversack_proxy_texts_total{vendor="anthropic",result="kept"} 8',
      'haversack_proxy_tokens_saved_total{vendor="anthropic",by="omission"} 70',
    ]
    expect(readCounters(metrics.join('\n'))).toEqual({ exchanges: 4, rewritten: 3, omitted: 70 })
  })
})

describe('the analysis', () => {
  /** Costs follow steps, and an arm changes them by a factor at equal steps. */
  function csvOf(factors: Readonly<Record<string, number>>) {
    const rows = Object.entries(factors).flatMap(([arm, factor], of) =>
      Array.from({ length: 40 }, (_, at) => {
        const steps = 20 + ((at * 7 + of * 3) % 11)
        const noise = 1 + 0.01 * Math.sin(9 * at + 5 * of)
        return `${arm},t${at},1,${steps},0,0,${0.02 * steps * factor * noise}`
      }),
    )
    return ['# made', COLUMNS, ...rows].join('\n')
  }

  it('tells an arm that costs less from one that does not', () => {
    const [again, less] = analyse(csvOf({ direct: 1, direct_again: 1, less: 0.9 }))
    expect(again!.cost_at_equal_steps.verdict).toBe('not told apart')
    expect(less!.cost_at_equal_steps.verdict).toBe('fewer')
    expect(less!.cost_at_equal_steps.change).toBeCloseTo(-0.1, 2)
    expect(less!.solved).toMatchObject({ pairs: 40, gained: 0, lost: 0 })
  })

  it('compares with the direct arm, in whatever order arms come', () => {
    const arms = { clearing: 0.8, direct_again: 1, dear: 1.5, direct: 1 }
    const analysed = analyse(csvOf(arms))
    expect(analysed.map(({ arm }) => arm)).toEqual(['clearing', 'direct_again', 'dear'])
    expect(analysed.map(({ cost }) => cost.verdict)).toEqual(['fewer', 'not told apart', 'more'])
    expect(analysed[0]!.cost_at_equal_steps.change).toBeCloseTo(-0.2, 2)
    expect(() => analyse(csvOf({ clearing: 0.8, lossless: 0.9 }))).toThrow('no arm is direct')
  })

  it('pairs the passes of a task in their order', () => {
    const passes = ['direct', 'less'].flatMap(arm =>
      [1, 9].map(usd => `${arm},t,1,${usd},0,0,${arm === 'less' ? usd / 2 : usd}`),
    )
    const [less] = analyse([COLUMNS, ...passes].join('\n'))
    expect(less!.cost).toMatchObject({ pairs: 2, low: -0.5, high: -0.5, verdict: 'fewer' })
    expect(less!.steps.change).toBe(0)
  })

  it('says nothing of arms if the repetition can be told apart', () => {
    const [again, less] = analyse(csvOf({ direct: 1, direct_again: 1.1, less: 0.9 }))
    expect(again!.cost_at_equal_steps.verdict).toBe('more')
    expect(less!.cost_at_equal_steps.verdict).toBeNull()
  })

  it.each([
    ['arm,task\na,b', 'the first line must be'],
    [`${COLUMNS}\ndirect,t,1,0,0,0,1`, 'line 2 is no result of a task'],
    [`${COLUMNS}\ndirect,t,1,5,0,0,much`, 'line 2 is no result of a task'],
  ])('refuses what is no result: %j', (csv, reason) => {
    expect(() => analyse(csv)).toThrow(reason)
  })
})
