import { z } from 'zod'
import { MEDIA_TYPES } from '../../core/contract/envelope.ts'
import { problemSchema } from '../../core/contract/problem.ts'
import { VERSION } from '../../runtime/version.ts'
import type { Route, RouteDoc } from './route.ts'

/**
 * The schema of all `documented` routes, made at the first request, since few processes are asked.
 */
export function openApiRoute(documented: readonly RouteDoc[]): Route<unknown> {
  let document: OpenApi | undefined
  const doc: RouteDoc = {
    method: 'get',
    path: '/openapi.json',
    summary: 'This schema',
    scope: 'any',
    answer: { media: 'application/json' },
  }
  return {
    ...doc,
    mount: app =>
      app.get(doc.path, c => {
        document ??= openApi([...documented, doc])
        return c.json(document)
      }),
  }
}

/** An OpenAPI document: plain JSON. */
type OpenApi = Record<string, object | string>

/** OpenAPI 3.1 of the routes, from the very schemas that validate requests. */
function openApi(routes: readonly RouteDoc[]): OpenApi {
  const paths: Record<string, object> = {}
  for (const route of routes) {
    // OpenAPI writes {hash} where Hono writes :hash.
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: operation(route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Haversack', version: VERSION },
    paths,
    security: SECURITY,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: { Problem: z.toJSONSchema(problemSchema) },
    },
  }
}

/** Either header will do; neither is needed if no keys are configured. */
const SECURITY = [{ bearer: [] }, { apiKey: [] }]
const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
}

function operation(route: RouteDoc): object {
  const { path, summary, scope, request, parameters, answer, file } = route
  const listed = [...inPath(path), ...inQuery(parameters)]
  return {
    summary,
    ...(scope === 'open' ? { security: [] } : {}),
    ...(scope === 'open' || scope === 'any'
      ? {}
      : {
          description: `Needs the scope ${[scope]
            .flat()
            .map(each => `\`${each}\``)
            .join(' or ')}.`,
        }),
    ...(listed.length === 0 ? {} : { parameters: listed }),
    ...(request === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: bodies(z.toJSONSchema(request, { io: 'input' })),
          },
        }),
    responses: {
      200: {
        description: 'Success',
        content: {
          ...('media' in answer ? { [answer.media]: {} } : bodies(z.toJSONSchema(answer))),
          ...(file === undefined ? {} : { [file]: {} }),
        },
      },
      default: {
        description: 'Problem (RFC 9457)',
        content: {
          'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
        },
      },
    },
  }
}

function inPath(path: string): object[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(match => match[1])
  return names.map(name => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
}

function inQuery(parameters: RouteDoc['parameters']): object[] {
  return Object.entries(parameters?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = z.toJSONSchema(schema as z.ZodType)
    return { name, in: 'query', description, schema: rest }
  })
}

/** JSON and MessagePack carry the same schema. */
function bodies(schema: object): object {
  return Object.fromEntries(Object.values(MEDIA_TYPES).map(media => [media, { schema }]))
}
