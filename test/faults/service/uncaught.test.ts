import { expect, it } from 'vitest'
import { createLogger } from '../../../src/observability/logger.ts'
import { figure } from '../../integration/proxy/watched-service.ts'
import { startSmallService } from '../../integration/service/harness.ts'

it('an error that nothing caught is counted, and the first is logged', async () => {
  const lines: string[] = []
  const logger = createLogger('error', { write: line => void lines.push(line) })
  const service = await startSmallService({ workers: { count: 1 } }, { logger })
  service.noteUncaught(new Error('first'))
  service.noteUncaught('second')
  expect(await figure(service, 'haversack_uncaught_errors_total')).toBe(2)
  expect(lines).toEqual([expect.stringContaining('first')])
  await service.close()
})
