import type { Route } from './bodies/route.ts'

/** The environment of a command, as far as it says which API the command uses. */
export type ClientEnv = Readonly<Record<string, string | undefined>>

/** With which a request is signed once more; secrets as `env:NAME`. */
export interface SigningTerms {
  readonly region: string
  readonly access_key_id: string
  readonly secret_access_key: string
  readonly session_token?: string | undefined
}

/** A failure of ours as a client of a vendor's API gets it. */
export interface VendorError {
  /** The HTTP status, which decides the vendor's type of the error. */
  readonly status: number
  /** Ours, stable, for programs: `upstream_timeout`. */
  readonly code: string
  /** For people. Never the text of an exception, which may name hosts. */
  readonly message: string
}

/** Who bills a request, and whose errors its client expects. */
export interface Vendor {
  /** As `prices.toml`, `/v1/savings` and metrics name it. */
  readonly name: string
  /** Names of its own models, without vendor, region and route. */
  readonly models: RegExp
  /** Whether it offers models of other vendors. */
  readonly isCloud?: true
  /** Whether a cloud bills its models by its own prices. */
  readonly isOfferedByClouds?: true
  /** Whether its answers say what was written to its cache. */
  readonly reportsWrites: boolean
  /** Whether a longer life of its cache can be bought. */
  readonly sellsLives?: true
  /** Whether its API refuses cache breakpoints that we place. */
  readonly refusesBreakpoints?: true
  /** What a key that pays by token begins with; absent: any key does. */
  readonly keyPrefix?: string
  /** What the tokens of a subscription begin with; absent: they are not known. */
  readonly subscriptionPrefix?: string
  /** A header, and what it has with a login; absent: credentials alone tell one. */
  readonly loginMark?: readonly [header: string, text: string]
  /** Models that can search tools which begin deferred; absent: none. */
  readonly searchingModels?: readonly string[]
  /** The body of an error answer. */
  errorBody(error: VendorError): object
  /** The event that reports an error within a stream; absent: its data alone does. */
  readonly errorEvent?: string
}

/** A path at an upstream whose body is a conversation. */
export interface ConversationPath {
  /** Matches the end of the path; a group `model` has the model that it names. */
  readonly ending: RegExp
  /** A name in `bodies` of any dialect. */
  readonly body: string
}

/** How a vendor's API is spoken: data and pure functions. */
export interface Dialect {
  /** As `dialect` of an upstream names it. */
  readonly name: string
  readonly vendor: Vendor
  /** The shapes of bodies that it brings, by the names of their operations. */
  readonly bodies: Readonly<Record<string, Route>>
  /** In the order in which they are tried. A gateway may put anything before them. */
  readonly paths: readonly ConversationPath[]
  /** Ends of paths that count the tokens of a request without using any. */
  readonly counting: readonly string[]
  /** The vendor's own API; absent: it has no single host. */
  readonly host?: string
  /** Other hosts that take cache breakpoints which we place. */
  readonly breakpointHosts?: RegExp
  /** Whether a request may ask to be kept for a day. */
  readonly retains?: true
  /** The API has a route `/NAME` and settings `NAME_url`; absent: it is an upstream with a name. */
  readonly own?: OwnRoute
  /** The service of AWS that requests are signed for; absent: they have a key. */
  readonly awsService?: string
  /** How `run` finds the API that a command uses; absent: it does not. */
  readonly client?: NamedClient
}

/** An API that the service has a route of its own for. */
export interface OwnRoute {
  /** Variables with a client's base URL, the vendor's own first. */
  readonly variables: readonly string[]
  /** What clients' base URLs end with; absent: they have no version. */
  readonly version?: string
  /** Paths of bodies that are rewritten, and paths below them, without a version. */
  readonly unversioned: RegExp
  /** Whether upstreams with a path of their own know paths without a version. */
  readonly hasUnversionedUpstreams?: true
}

/** A client's API whose base URL a variable has. */
export interface NamedClient {
  readonly variable: string
  /** Where clients go without the variable; `null` if they would not use it. */
  byDefault(env: ClientEnv): string | null
  /** With which signed requests are signed once more; absent: such are not known. */
  signedWith?(env: ClientEnv): SigningTerms | undefined
}
