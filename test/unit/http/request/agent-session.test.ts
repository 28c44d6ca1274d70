import { expect, it } from 'vitest'
import { sidechainTerm } from '../../../../src/http/request/agent-session.ts'
import { inContext } from '../http-context.ts'

it.each<[Record<string, string>, boolean]>([
  [{ 'x-claude-code-agent-id': 'a1' }, true],
  [{ 'x-claude-code-session-id': 's', 'x-claude-code-agent-id': ' ' }, false],
  [{ 'x-openai-subagent': 'review' }, true],
  [{ 'x-openai-subagent': 'collab_spawn', 'x-codex-parent-thread-id': 't' }, true],
  // The agent's own context, which is compacted.
  [{ 'x-openai-subagent': 'compact' }, false],
  [{ 'x-openai-subagent': 'false' }, false],
  [{ 'x-codex-parent-thread-id': 't' }, true],
  [{ 'x-session-affinity': 'ses_b', 'x-parent-session-id': 'ses_a' }, true],
  [{ 'x-session-affinity': 'ses_a' }, false],
  [{}, false],
])('a request with %j is of a sub-agent: %s', async (headers, isOne) => {
  const terms = await inContext({ method: 'POST', headers }, sidechainTerm)
  expect(terms).toEqual(isOne ? { isSidechain: true } : {})
})
