import { byName, type Fingerprint, type MergedFingerprint } from './fingerprint.ts'
import { fingerprintOf, noSums, type Sums } from './formulas.ts'
import { addWeighted } from './weighted-sums.ts'

/** A source that has seen fewer calls of an endpoint is not used. */
const LEAST_CALLS = 20
/** The team's part, if both the team and the caller know the endpoint. */
const TEAM_PART = 0.7
/** The same if no member of the team has uploaded lately. */
const STALE_TEAM_PART = 0.3
/** Largest part of a provider's figures. A provider may publish what is good for itself. */
const PROVIDER_PART = 0.4

/** The figures of one endpoint, from each source. */
export interface Sources {
  readonly own?: Fingerprint | undefined
  readonly team?: MergedFingerprint | undefined
  readonly provider?: Fingerprint | undefined
}

export interface Blend {
  readonly fingerprint: Fingerprint
  /**
   * The part of each source. They add up to 1, except for the provider's part if no other source
   * knows the endpoint.
   */
  readonly weights: { readonly own: number; readonly team: number; readonly provider: number }
}

/**
 * Blends the figures of an endpoint: 70 % the team's and 30 % the caller's own (SOURCES.md#formats,
 * deployment pattern B). A provider's part is 40 % of the whole if the caller has no calls of its
 * own, and falls with these as `0.4 · 20 / (20 + calls)` ("at most 40 % weight"). A source with
 * fewer than 20 calls has no part. Shares and means are weighted; of calls and sessions it is the
 * most that one source has.
 * @returns `null` if no source has enough calls
 */
export function blend({ own, team, provider }: Sources): Blend | null {
  const [ownKnown, teamKnown, providerKnown] = [own, team, provider].map(isEnough)
  if (!ownKnown && !teamKnown && !providerKnown) return null
  const ownCalls = own?.call_count ?? 0
  const providerPart = providerKnown ? (PROVIDER_PART * LEAST_CALLS) / (LEAST_CALLS + ownCalls) : 0
  const teamPart = team?.stale === true ? STALE_TEAM_PART : TEAM_PART
  const ofTeam = teamKnown ? (ownKnown ? teamPart : 1) : 0
  const rest = 1 - providerPart
  const weights = {
    own: ownKnown ? rest * (1 - ofTeam) : 0,
    team: rest * ofTeam,
    provider: providerPart,
  }
  const sums = noSums()
  if (own !== undefined) addSource(sums, own, weights.own)
  if (team !== undefined) addSource(sums, team, weights.team)
  if (provider !== undefined) addSource(sums, provider, weights.provider)
  const name = (own ?? team ?? provider)!.endpoint_class
  return { fingerprint: fingerprintOf(name, sums), weights }
}

/** The figures of many endpoints by name, from each source. */
export interface AllSources {
  readonly own: ReadonlyMap<string, Fingerprint>
  readonly team: ReadonlyMap<string, MergedFingerprint>
  readonly providers: ReadonlyMap<string, Fingerprint>
}

/** Every endpoint that some source knows enough about, blended, by name. */
export function blendAll({ own, team, providers }: AllSources): ReadonlyMap<string, Blend> {
  const names = new Set([...own.keys(), ...team.keys(), ...providers.keys()])
  const all = new Map<string, Blend>()
  for (const name of [...names].sort(byName)) {
    const blended = blend({
      own: own.get(name),
      team: team.get(name),
      provider: providers.get(name),
    })
    if (blended !== null) all.set(name, blended)
  }
  return all
}

function isEnough(source: Fingerprint | undefined): boolean {
  return source !== undefined && source.call_count >= LEAST_CALLS
}

function addSource(sums: Sums, source: Fingerprint, weight: number): void {
  if (weight === 0) return
  sums.calls = Math.max(sums.calls, source.call_count)
  sums.sessions = Math.max(sums.sessions, source.source_sessions)
  addWeighted(sums, source, weight)
}
