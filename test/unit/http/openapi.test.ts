import { describe, expect, it } from 'vitest'
import { testApp } from '../../support/app.ts'

interface Operation {
  readonly summary: string
  readonly description?: string
  readonly security?: readonly object[]
  readonly requestBody?: { readonly content: object }
  readonly responses: Readonly<Record<string, { content: object }>>
}

interface Document {
  readonly openapi: string
  readonly security: readonly Record<string, unknown>[]
  readonly components: { readonly securitySchemes: Record<string, object> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const document = async () =>
  (await (await testApp().app.request('/openapi.json')).json()) as Document

describe('openapi.json', () => {
  it('names both headers that a key may come in', async () => {
    const { security, components } = await document()
    expect(security.flatMap(each => Object.keys(each))).toEqual(
      Object.keys(components.securitySchemes),
    )
    expect(components.securitySchemes).toEqual({
      bearer: { type: 'http', scheme: 'bearer' },
      apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
    })
  })

  it('says of a route what a key needs', async () => {
    const { paths } = await document()
    const told = (path: string, method: string) => {
      const { security, description } = paths[path]?.[method] ?? {}
      return { security, description }
    }
    for (const path of ['/livez', '/readyz']) {
      expect(told(path, 'get')).toEqual({ security: [], description: undefined })
    }
    expect(told('/openapi.json', 'get')).toEqual({})
    expect(told('/metrics', 'get')).toEqual({ description: 'Needs the scope `metrics`.' })
    for (const name of ['encode', 'decode', 'count', 'batch']) {
      expect(told(`/v1/${name}`, 'post')).toEqual({ description: 'Needs the scope `encode`.' })
    }
  })

  it('has answers in both encodings on the routes of operations, and problems everywhere', async () => {
    const { paths } = await document()
    for (const [path, methods] of Object.entries(paths)) {
      for (const { responses } of Object.values(methods)) {
        const media = Object.keys(responses['200']?.content ?? {})
        const both = ['application/json', 'application/msgpack']
        if (path === '/v1/encode' || path === '/v1/batch') expect(media).toEqual(both)
        expect(media.length).toBeGreaterThan(0)
        expect(Object.keys(responses['default']?.content ?? {})).toEqual([
          'application/problem+json',
        ])
      }
    }
  })

  it('has no reference that leads nowhere', async () => {
    const doc = await document()
    for (const [, pointer] of JSON.stringify(doc).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      let at: unknown = doc
      for (const part of (pointer ?? '').split('/')) at = (at as Record<string, unknown>)?.[part]
      expect([pointer, typeof at]).toEqual([pointer, 'object'])
    }
  })

  it('names a Parquet file beside the two where it is given, and not where it is refused', async () => {
    const { paths } = await document()
    const { post, get } = paths['/mcp/fingerprints/v1/teams/{team}'] ?? {}
    const parquet = 'application/vnd.apache.parquet'
    expect(Object.keys(post?.requestBody?.content ?? {})).not.toContain(parquet)
    expect(Object.keys(get?.responses['200']?.content ?? {})).toContain(parquet)
  })
})
