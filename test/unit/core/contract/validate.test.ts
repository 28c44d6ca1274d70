import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { encodeRequest } from '../../../../src/core/contract/encode.ts'
import { validate } from '../../../../src/core/contract/validate.ts'

function errorsOf(input: unknown) {
  try {
    validate(encodeRequest, input)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request')
      return error.extras.errors ?? []
    throw error
  }
  return []
}

describe('validate', () => {
  it('gives back a request that fits', () => {
    const request = { content: 'x', args: { any: [1] }, pagination: { total: 3, returned: 1 } }
    expect(validate(encodeRequest, request)).toEqual(request)
  })

  it('names an unknown field and the fields that exist beside it', () => {
    const [error] = errorsOf({ content: 'x', sesion: 'a' })
    expect(error?.path).toBe('sesion')
    expect(error?.message).toContain('session')
  })

  it('names an unknown field inside a nested object with the fields of that object', () => {
    const [error] = errorsOf({ content: 'x', pagination: { total: 1, returned: 1, page: 2 } })
    expect(error).toEqual({
      path: 'pagination.page',
      message: 'unknown field; known here: total, returned, offset, next',
    })
  })

  it('names every field of a wrong type at once', () => {
    const paths = errorsOf({ content: 1, session: '', budget_tokens: -1, mode: 'magic' }).map(
      ({ path }) => path,
    )
    expect(paths).toEqual(['content', 'session', 'mode', 'budget_tokens'])
  })

  it.each([[null], ['text'], [[]], [1]])('refuses a body that is no object: %j', body => {
    expect(errorsOf(body)).toHaveLength(1)
  })

  it('treats __proto__ as the unknown field that it is', () => {
    expect(errorsOf(JSON.parse('{"content":"x","__proto__":{"session":"a"}}'))).toHaveLength(1)
    expect(errorsOf(JSON.parse('{"content":"x","constructor":1}'))).toHaveLength(1)
  })

  it('does not list a million violations', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key${i}`, 1]))
    expect(errorsOf({ content: 'x', ...many }).length).toBeLessThanOrEqual(20)
  })
})
