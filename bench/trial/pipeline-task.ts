import type { Random } from '../../src/lab/bill/statistics.ts'
import { api, REGIONS, writer } from './api-task.ts'
import { answer, json, lines, type Solving } from './solving.ts'
import { type TaskKind, taskOf } from './task.ts'
import { between, personName, pick, shuffle, wordPairs } from './words.ts'

interface Pipeline {
  readonly state: string
  readonly jobs: readonly {
    readonly id: number
    readonly status: string
    readonly runner: string
  }[]
}

function jobLog(random: Random, name: string, code: number): string {
  const count = between(random, 60, 160)
  const failing = between(random, 20, count - 1)
  const steps = Array.from({ length: count }, (_, at) => {
    const did = `compiled ${between(random, 1, 60)} modules in ${between(random, 20, 900)} ms`
    const end = at === failing ? `failed with exit code ${code}` : did
    return `[${String(at).padStart(3, '0')}] ${name}: step ${at} ${end}`
  })
  return steps.join('\n')
}

/** A pipeline that is polled until it has ended, and what its failed job says. */
export const pipelineTask: TaskKind = {
  name: 'pipeline',
  make(random) {
    const id = `pl-${between(random, 200, 999)}`
    const polls = between(random, 5, 14)
    const jobs = wordPairs(random, between(random, 8, 20)).map(([a, b], at) => ({
      ...{ id: 880 + at, name: `${a}-${b}`, runner: `r-${between(random, 10, 40)}` },
      ...{ start: random(polls - 2), length: between(random, 1, 3) },
    }))
    const failing = pick(random, jobs)
    const [code, owner] = [between(random, 2, 120), personName(random)]
    const runners = shuffle(random, [...new Set(jobs.map(({ runner }) => runner))]).map(each => {
      const own = each === failing.runner ? owner : personName(random)
      return { id: each, owner: own, zone: pick(random, REGIONS) }
    })
    const [write, log] = [writer(random), jobLog(random, failing.name, code)]
    const jobAt = (poll: number, { id: job, name, runner, start, length }: typeof failing) => {
      const isOver = poll >= Math.min(polls, start + length)
      const end = job === failing.id ? 'failed' : 'success'
      const status = isOver ? end : poll >= start ? 'running' : 'pending'
      const seconds = 30 * Math.max(0, Math.min(poll - start, length))
      return { id: job, name, status, runner: status === 'pending' ? null : runner, seconds }
    }
    const prompt = `An API has /pipelines/${id}, /jobs/ID/log and /runners. The pipeline ${id} is running. Poll it until its state is no longer running. One job fails. Answer with the exit code in that job's log, a space, and the owner of the job's runner.`
    const createApi = () => {
      let poll = -1
      return (path: string) => {
        if (path === '/runners') return write(runners)
        if (path !== `/pipelines/${id}`) return path === `/jobs/${failing.id}/log` ? log : null
        poll++
        const state = poll >= polls ? 'failed' : 'running'
        return write({ id, state, jobs: jobs.map(job => jobAt(poll, job)) })
      }
    }
    return taskOf(prompt, `${code} ${owner}`, { createApi })
  },
  prompt: /The pipeline (\S+) is running/,
  *solve(id = ''): Solving<void> {
    let failed: Pipeline['jobs'][number] | undefined
    for (let isRunning = true; isRunning; ) {
      const seen = yield* json(api(`/pipelines/${id}`), ({ state, jobs }: Pipeline) => {
        return { isRunning: state === 'running', failed: jobs.find(job => job.status === 'failed') }
      })
      isRunning = seen.isRunning
      failed = seen.failed
    }
    const code = yield* lines(api(`/jobs/${failed?.id}/log`), all => {
      return all.flatMap(line => /failed with exit code (\d+)$/.exec(line)?.[1] ?? [])[0]
    })
    const owner = yield* json(api('/runners'), (all: readonly { id: string; owner: string }[]) => {
      return all.find(each => each.id === failed?.runner)?.owner
    })
    yield* answer(`${code} ${owner}`)
  },
}
