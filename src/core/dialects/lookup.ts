import type { Route } from './bodies/route.ts'
import type { Dialect, OwnRoute, Vendor } from './dialect.ts'
import { DIALECTS } from './registry.ts'

type Registered = (typeof DIALECTS)[number]
type BodiesOf<D> = D extends { readonly bodies: infer B } ? keyof B : never

export type DialectName = Registered['name']
export type OwnDialectName = Extract<Registered, { readonly own: OwnRoute }>['name']
/** The vendor whose prices a request has, and whose errors its client expects. */
export type VendorName = Registered['vendor']['name']
/** A request body's shape, by the endpoint that it is sent to. */
export type RouteName = BodiesOf<Registered> & string

/** In their order, for what all of them say. */
export const dialects: readonly Dialect[] = DIALECTS

export const DIALECT_NAMES = dialects.map(({ name }) => name) as readonly DialectName[]

const vendors = new Map(dialects.map(({ vendor }) => [vendor.name as VendorName, vendor] as const))
export const VENDOR_NAMES: readonly VendorName[] = [...vendors.keys()]

const bodies = new Map(
  dialects.flatMap(dialect =>
    Object.entries(dialect.bodies).map(
      ([name, rules]) => [name as RouteName, { rules, dialect }] as const,
    ),
  ),
)
/** The shapes of bodies; an operation for each. */
export const ROUTE_NAMES: readonly RouteName[] = [...bodies.keys()]

/** Dialects that the service has routes of their own for. */
export const OWN_DIALECTS: readonly (Dialect & { readonly own: OwnRoute })[] = dialects.flatMap(
  dialect => (dialect.own === undefined ? [] : [{ ...dialect, own: dialect.own }]),
)

export function dialectNamed(name: DialectName): Dialect {
  return dialects.find(each => each.name === name)!
}

export function vendorNamed(name: VendorName): Vendor {
  return vendors.get(name)!
}

/** The rules of a shape of bodies. */
export function bodyRules(route: RouteName): Route {
  return bodies.get(route)!.rules
}

/** The dialect that brings a shape of bodies. */
export function dialectOfBody(route: RouteName): Dialect {
  return bodies.get(route)!.dialect
}
