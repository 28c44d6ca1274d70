import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import type { GainAnswer } from '../../../../src/core/contract/gain.ts'
import { LEDGER_FILE } from '../../../../src/runtime/data-files.ts'
import { killProcesses, startProcess } from '../../../support/service-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-full-'))
const file = join(folder, LEDGER_FILE)
afterAll(() => {
  killProcesses()
  rmSync(folder, { recursive: true })
})

it('a disk that is full costs figures and no request, and sums are of what was written', async () => {
  const { url, child, exited } = await startProcess({ env: { HAVERSACK_DATA_DIR: folder } })
  const limitFiles = (bytes: number | 'unlimited') =>
    execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`])
  let sent = 0
  /** Sends a result. @returns how many of all results the sums have */
  async function countAfterResult(): Promise<number> {
    const content = JSON.stringify([{ id: sent++ }, { id: sent }])
    const body = JSON.stringify({ content, tool: `tool ${sent}` })
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/v1/encode`, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toEqual([200, expect.anything()])
    const { by } = (await (await fetch(`${url}/v1/gain`)).json()) as GainAnswer
    return by.day.reduce((sum, { results }) => sum + results, 0)
  }

  expect(await countAfterResult()).toBe(1)
  limitFiles(statSync(`${file}-wal`).size)
  expect(await countAfterResult()).toBe(1)
  expect(await countAfterResult()).toBe(1)
  expect(await (await fetch(`${url}/metrics`)).text()).toContain('haversack_ledger_dropped_total 2')
  limitFiles('unlimited')
  expect(await countAfterResult()).toBe(2)
  child.kill('SIGTERM')
  expect(await exited).toBe(0)

  const database = new DatabaseSync(file, { readOnly: true })
  const read = (sql: string) => Object.values(database.prepare(sql).get() ?? {})
  expect(read('PRAGMA integrity_check')).toEqual(['ok'])
  expect(read('SELECT count(*), (SELECT sum(results) FROM day) FROM result')).toEqual([2, 2])
  database.close()
})
