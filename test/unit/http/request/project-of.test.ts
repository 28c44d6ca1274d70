import { describe, expect, it } from 'vitest'
import { createAccess } from '../../../../src/access/access.ts'
import { makeKey } from '../../../../src/access/key-record.ts'
import type { AppContext } from '../../../../src/http/context.ts'
import { projectTerm } from '../../../../src/http/request/request-terms.ts'

function callerOf(project?: string) {
  const { key, ...made } = makeKey()
  const record = {
    ...made,
    ...{ tenant: 'acme', scopes: ['encode'] as const, redeems: false, created_at: 0 },
    ...(project === undefined ? {} : { project }),
  }
  return createAccess([{ ...record, scopes: [...record.scopes] }], () => 0).identify(() => key)
}

function requestOf(caller: ReturnType<typeof callerOf>, header?: string): AppContext {
  const headers = header === undefined ? {} : { 'x-haversack-project': header }
  return { get: () => ({ caller }), env: { incoming: { headers } } } as unknown as AppContext
}

describe('the project of a request', () => {
  it('is that of its key, else the one that its header names', () => {
    expect(projectTerm(requestOf(callerOf()))).toEqual({})
    expect(projectTerm(requestOf(callerOf(), 'web'))).toEqual({ project: 'web' })
    expect(projectTerm(requestOf(callerOf('api')))).toEqual({ project: 'api' })
    expect(projectTerm(requestOf(callerOf('api'), 'web'))).toEqual({ project: 'api' })
  })
})
