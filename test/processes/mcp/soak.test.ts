import { expect, it } from 'vitest'
import { runSoak } from '../../support/mcp/soak.ts'

it('nothing is left of clients that vanish and servers that are killed', async () => {
  const { left, ...counts } = await runSoak({
    calls: 120,
    clients: 2,
    callsOfClient: 20,
    killMs: 700,
  })
  expect(counts.answered + counts.failed).toBe(120)
  expect(counts.crossed).toBe(0)
  expect(counts.answered).toBeGreaterThan(0)
  expect(counts.vanished).toBeGreaterThanOrEqual(6)
  expect(counts.kills).toBeGreaterThan(0)
  expect(left).toEqual({ children: 0, connections: 0, resources: [] })
})
