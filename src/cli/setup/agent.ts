import type { Env } from '../../config/env.ts'
import type { AgentHook, AgentStatusLine } from './claude-settings.ts'

/** An agent whose configuration names its base URL in a file. */
export interface Agent {
  /** The user's file. */
  file(env: Env): string
  /** The base URL for an agent of a service. */
  baseUrl(service: string, env: Env): string
  /**
   * The text of the file with the base URL. @throws Error if the text cannot be changed so that
   * nothing else changes
   */
  withBaseUrl(text: string, baseUrl: string): string
  /**
   * What `withBaseUrl` may have been given for the text of the file, and others' base URLs there;
   * most files have one at most.
   */
  baseUrlsIn(text: string): readonly string[]
  /** The variable that takes precedence over the file; absent: there is none. */
  readonly variable?: string
  /** What the service needs, as a sentence or as lines of its configuration. */
  upstream(env: Env): string
  /** What keeps the agent from using the base URL of the file; absent: nothing is known. */
  obstacle?(text: string, env: Env): Obstacle | undefined
  /** What of the text of the file stays without the base URL, as sentences. */
  left?(text: string): readonly string[]
  /** Makes results smaller without a base URL; absent: the agent has nothing like it. */
  readonly hook?: AgentHook
  /** Asks for prompt caches of an hour in its file, and says whether it does; absent: it cannot. */
  readonly cacheHour?: { with(text: string): string; isIn(text: string): boolean }
  /** A line that shows what a session saved; absent: the agent has nothing like it. */
  readonly statusLine?: AgentStatusLine
}

/** Something in an agent's own settings that decides against the base URL. */
export interface Obstacle {
  readonly found: string
  /** What to do about it. */
  readonly advice: string
}
