import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { api, REGIONS, taskOf, writer } from './api-task.ts'
import { answer, json, lines, type Solving } from './solving.ts'
import type { TaskKind } from './task.ts'
import { between, personName, pick, shuffle, wordPairs } from './words.ts'

interface Job {
  readonly id: number
  readonly name: string
  readonly status: string
  readonly runner: string | null
  readonly seconds: number
}

interface Pipeline {
  readonly id: string
  readonly state: string
  readonly jobs: readonly Job[]
}

/** A pipeline that is polled until it has ended, and what its failed job says. */
export const pipelineTask: TaskKind = {
  name: 'pipeline',
  make(random) {
    const id = `pl-${between(random, 200, 999)}`
    const polls = between(random, 5, 14)
    const jobs = wordPairs(random, between(random, 8, 20)).map(([a, b], at) => ({
      id: 880 + at,
      name: `${a}-${b}`,
      runner: `r-${between(random, 10, 40)}`,
      start: random(polls - 2),
      length: between(random, 1, 3),
    }))
    const failing = pick(random, jobs)
    const [code, owner] = [between(random, 2, 120), personName(random)]
    const runners = shuffle(random, [...new Set(jobs.map(({ runner }) => runner))]).map(runner => ({
      id: runner,
      owner: runner === failing.runner ? owner : personName(random),
      zone: pick(random, REGIONS),
    }))
    const write = writer(random)
    const log = jobLog(random, failing.name, code)
    const answerAt = (poll: number): Pipeline => ({
      id,
      state: poll >= polls ? 'failed' : 'running',
      jobs: jobs.map(({ id: job, name, runner, start, length }) => {
        const isOver = poll >= polls || poll >= start + length
        const status = isOver
          ? job === failing.id
            ? 'failed'
            : 'success'
          : poll >= start
            ? 'running'
            : 'pending'
        return {
          ...{ id: job, name, status, runner: status === 'pending' ? null : runner },
          seconds: 30 * Math.max(0, Math.min(poll - start, length)),
        }
      }),
    })
    const prompt = `An API has /pipelines/${id}, /jobs/ID/log and /runners. The pipeline ${id} is running. Poll it until its state is no longer running. One job fails. Answer with the exit code in that job's log, a space, and the owner of the job's runner.`
    return taskOf(prompt, `${code} ${owner}`, () => {
      let poll = 0
      return path => {
        if (path === `/pipelines/${id}`) return write(answerAt(poll++) as unknown as Json)
        if (path === '/runners') return write(runners)
        return path === `/jobs/${failing.id}/log` ? log : null
      }
    })
  },
  solve(prompt) {
    const found = /The pipeline (\S+) is running/.exec(prompt)
    return found === null ? null : solvePipeline(found[1]!)
  },
}

function jobLog(random: Random, name: string, code: number): string {
  const steps = Array.from({ length: between(random, 60, 160) }, (_, at) => {
    return `[${String(at).padStart(3, '0')}] ${name}: step ${at} compiled ${between(random, 1, 60)} modules in ${between(random, 20, 900)} ms`
  })
  const at = between(random, 20, steps.length - 1)
  return [
    ...steps.slice(0, at),
    `[${String(at).padStart(3, '0')}] ${name}: step ${at} failed with exit code ${code}`,
    ...steps.slice(at + 1),
  ].join('\n')
}

function* solvePipeline(id: string): Solving<void> {
  for (;;) {
    const failed = yield* json(api(`/pipelines/${id}`), ({ state, jobs }: Pipeline) => {
      if (state === 'running') return null
      const job = jobs.find(({ status }) => status === 'failed')
      return { id: job?.id, runner: job?.runner }
    })
    if (failed === null) continue
    const code = yield* lines(api(`/jobs/${failed.id}/log`), all => {
      return all.flatMap(line => /failed with exit code (\d+)$/.exec(line)?.[1] ?? [])[0]
    })
    const owner = yield* json(api('/runners'), (all: readonly { id: string; owner: string }[]) => {
      return all.find(each => each.id === failed.runner)?.owner
    })
    yield* answer(`${code} ${owner}`)
    return
  }
}
