import type { Hono } from 'hono'
import type { z } from 'zod'
import type { NeededScope } from '../../access/access.ts'
import type { AppDeps, AppEnv } from '../context.ts'

/** What a key needs for a route; `open`: none is needed. */
export type RouteScope = NeededScope | 'open'

/** What `/openapi.json` has of a route. */
export interface RouteDoc {
  readonly method: 'get' | 'post' | 'delete'
  readonly path: string
  readonly summary: string
  readonly scope: RouteScope
  readonly request?: z.ZodType
  /** Query parameters; parameters of the path are in the path. */
  readonly parameters?: z.ZodObject
  /** The answer's schema, or the media type of an answer that has none. */
  readonly answer: z.ZodType | { readonly media: string }
  /** A media type of answers, beside JSON and MessagePack. */
  readonly file?: string
}

/** A route's documentation and how it is mounted, with what it uses. Listed in `app.ts`. */
export interface Route<Needs = AppDeps> extends RouteDoc {
  mount(app: Hono<AppEnv>, needs: Needs): void
}
