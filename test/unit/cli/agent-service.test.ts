import { expect, it } from 'vitest'
import { agentService } from '../../../src/console/service-client.ts'

it.each([
  ['without any', {}, 'http://127.0.0.1:8787'],
  ['of serve', { ANTHROPIC_BASE_URL: 'http://127.0.0.1:8790/anthropic' }, 'http://127.0.0.1:8790'],
  ['of run', { ANTHROPIC_BASE_URL: 'http://[::1]:1/ab12/anthropic/' }, 'http://[::1]:1/ab12'],
  ['of something local', { ANTHROPIC_BASE_URL: 'http://localhost:4000' }, 'http://127.0.0.1:8787'],
  [
    'of another vendor, which is not asked',
    { ANTHROPIC_BASE_URL: 'https://v/anthropic' },
    undefined,
  ],
  ['that begins like ours', { ANTHROPIC_BASE_URL: 'https://127.0.0.1.v/anthropic' }, undefined],
  ['that is none', { ANTHROPIC_BASE_URL: 'x/anthropic' }, undefined],
  [
    'with a name',
    { ANTHROPIC_BASE_URL: 'https://v/anthropic', HAVERSACK_URL: 'http://t' },
    'http://t',
  ],
])('takes the service of a base URL %s', (_case, env, service) => {
  expect(agentService(env)).toBe(service)
})
