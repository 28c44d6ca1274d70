import { expect, it } from 'vitest'
import { readDiscovery, readInitialized } from '../../../../src/mcp/upstream/handshake.ts'
import type { LinkEnd } from '../../../../src/mcp/upstream/link.ts'

const answer = (instructions: string): LinkEnd => {
  const facts = { protocolVersion: '2025-11-25', supportedVersions: ['2026-07-28'], instructions }
  const result = Buffer.from(JSON.stringify({ ...facts, capabilities: {} }))
  return { kind: 'answered', outcome: { kind: 'result', result } }
}

it('a server may state a mebibyte of itself', () => {
  const [small, large] = [answer('x'.repeat(1_000)), answer('x'.repeat(1024 * 1024))]
  expect(readInitialized(small).kind).toBe('open')
  expect(readDiscovery(small, '2026-07-28', false).kind).toBe('open')
  expect(readInitialized(large).kind).toBe('failed')
  expect(readDiscovery(large, '2026-07-28', false).kind).toBe('failed')
})
