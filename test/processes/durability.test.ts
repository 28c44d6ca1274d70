import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { killProcesses, startProcess } from '../support/service-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-durable-'))
afterAll(() => {
  killProcesses()
  rmSync(folder, { recursive: true, force: true })
})

const ROUNDS = 3
const CLIENTS = 8
/** Puts that a round waits for before it kills. */
const ENOUGH = runs(200)

const start = () => startProcess({ env: { HAVERSACK_DATA_DIR: join(folder, 'data') } })

it('an input that was answered is there after SIGKILL, and exact', async () => {
  const kept = new Map<string, string>()
  for (let round = 0; round < ROUNDS; round++) {
    const service = await start()
    const goal = kept.size + ENOUGH
    let next = 0
    const client = async () => {
      for (;;) {
        const content = `${round}-${next++} ${'é\n'.repeat(next % 300)}`
        try {
          const response = await fetch(`${service.url}/v1/inputs`, {
            method: 'POST',
            body: JSON.stringify({ content }),
            headers: { 'content-type': 'application/json' },
          })
          const { input_ref } = (await response.json()) as { input_ref: string }
          kept.set(input_ref, content)
        } catch {
          return
        }
        // In the middle of what the other clients have sent.
        if (kept.size >= goal) service.child.kill('SIGKILL')
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, client))
    expect(await service.exited).toBe('SIGKILL')
  }

  const service = await start()
  expect(kept.size).toBeGreaterThanOrEqual(ROUNDS * ENOUGH)
  for (const [ref, content] of kept) {
    const response = await fetch(`${service.url}/v1/retrieve/${ref}`)
    const { original_content } = (await response.json()) as { original_content: string }
    expect(original_content).toBe(content)
  }
  service.child.kill('SIGTERM')
  expect(await service.exited).toBe(0)
})
