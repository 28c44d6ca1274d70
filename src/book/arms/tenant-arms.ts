import { z } from 'zod'
import {
  type ArmSums,
  addSums,
  type FollowUpKind,
  NO_SUMS,
  RESULT_ARMS,
  type ResultArmName,
  SUM_NAMES,
} from '../../core/arms/sums.ts'
import { addFields } from '../../core/base/add-fields.ts'
import type { ResultRow } from '../../core/contract/result-row.ts'

/** Classes that are told apart; results of others are counted together. */
const MAX_CLASSES = 100
export const OTHER_CLASSES = 'other'
/** Units that are kept, the newest ones. */
const MAX_UNITS = 2_000

const sums = z.object(
  Object.fromEntries(SUM_NAMES.map(name => [name, z.number().default(0)])) as Record<
    keyof ArmSums,
    z.ZodDefault<z.ZodNumber>
  >,
)
const arms = z.object({ elided: sums, whole: sums })
const count = z.number().nonnegative()

const armsSchema = z.object({
  stamp: z.string(),
  since: z.int().nonnegative(),
  classes: z.record(z.string(), arms),
  /** Classes whose elision did not pay, with their sums at that time. */
  alarms: z.record(z.string(), z.object({ at: z.int().nonnegative(), sums: arms })),
  units: z
    .array(
      z.object({
        unit: z.string(),
        isHeldOut: z.boolean(),
        last_at: z.int().nonnegative(),
        results: count,
        tokens: count,
        saved: count,
        again: count,
        failedEdits: count,
      }),
    )
    .max(MAX_UNITS),
})

/** What is known of a tenant's arms: sums only, never a content or an argument. */
export type TenantArms = Readonly<z.output<typeof armsSchema>>
export type ClassArms = TenantArms['classes'][string]

const NO_ARMS: ClassArms = { elided: NO_SUMS, whole: NO_SUMS }

export function emptyArms(now: number): TenantArms {
  return { stamp: '', since: now, classes: {}, alarms: {}, units: [] }
}

export type ArmsRow = Pick<ResultRow, 'arms' | 'unit'>

/** What the rows of results add. Returns `null` if they add nothing. */
export function armsOf(rows: readonly ArmsRow[], now: number): TenantArms | null {
  const none = emptyArms(now)
  const each = rows.flatMap(({ arms: deltas = [], unit }) => [
    ...deltas.map(({ class: name, arm, sums: more }) => ({
      ...none,
      classes: { [name]: { ...NO_ARMS, [arm]: more } },
    })),
    ...(unit === undefined ? [] : [{ ...none, units: [{ ...unit, last_at: now }] }]),
  ])
  return each.length === 0 ? null : each.reduce(addArms, none)
}

/** What is counted of results, for metrics. */
export interface ArmsCount {
  readonly results: Readonly<Record<ResultArmName, number>>
  readonly followUps: Readonly<Record<ResultArmName, Readonly<Record<FollowUpKind, number>>>>
  readonly ofUnits: { readonly heldOut: number; readonly treated: number }
}

export function countOf({ classes, units }: TenantArms): ArmsCount {
  const sum = Object.values(classes).reduce((a, b) => combine(a, b, addSums), NO_ARMS)
  const kinds = (arm: ResultArmName) => {
    const { retrieval, same_call, same_file, failed_edit } = sum[arm]
    return { retrieval, same_call, same_file, failed_edit }
  }
  const ofArm = (isHeldOut: boolean) =>
    units.reduce((all, each) => all + (each.isHeldOut === isHeldOut ? each.results : 0), 0)
  return {
    results: { elided: sum.elided.results, whole: sum.whole.results },
    followUps: { elided: kinds('elided'), whole: kinds('whole') },
    ofUnits: { heldOut: ofArm(true), treated: ofArm(false) },
  }
}

/** The sum of both, with the stamp of the first. */
export function addArms(a: TenantArms, b: TenantArms): TenantArms {
  return {
    stamp: a.stamp,
    since: Math.min(a.since, b.since),
    classes: addClasses(a.classes, b.classes),
    alarms: lastAlarms(a.alarms, b.alarms),
    units: b.units.length === 0 ? a.units : addUnits(a.units, b.units),
  }
}

function addClasses(a: TenantArms['classes'], b: TenantArms['classes']): Record<string, ClassArms> {
  const classes = new Map(Object.entries(a))
  for (const [name, more] of Object.entries(b)) {
    const isRoom = classes.has(name) || classes.size < MAX_CLASSES
    const own = isRoom ? name : OTHER_CLASSES
    classes.set(own, combine(classes.get(own) ?? NO_ARMS, more, addSums))
  }
  return Object.fromEntries(classes)
}

/** Both arms of two classes, by a function of their sums. */
function combine(a: ClassArms, b: ClassArms, by: (a: ArmSums, b: ArmSums) => ArmSums): ClassArms {
  const [elided, whole] = RESULT_ARMS.map(arm => by(a[arm], b[arm])) as [ArmSums, ArmSums]
  return { elided, whole }
}

function lastAlarms(a: TenantArms['alarms'], b: TenantArms['alarms']): TenantArms['alarms'] {
  const alarms = new Map(Object.entries(a))
  for (const [name, alarm] of Object.entries(b)) {
    if ((alarms.get(name)?.at ?? -1) < alarm.at) alarms.set(name, alarm)
  }
  return Object.fromEntries(alarms)
}

function addUnits(a: TenantArms['units'], b: TenantArms['units']): TenantArms['units'] {
  const units = new Map(a.map(each => [each.unit, each]))
  for (const each of b) {
    const known = units.get(each.unit)
    units.set(each.unit, known === undefined ? each : addUnit(known, each))
  }
  return [...units.values()].sort(byRecency).slice(0, MAX_UNITS)
}

type Unit = TenantArms['units'][number]

function addUnit({ unit, isHeldOut, last_at, ...counts }: Unit, more: Unit): Unit {
  const latest = Math.max(last_at, more.last_at)
  return { unit, isHeldOut, last_at: latest, ...addFields(counts, more) }
}

/** Latest first; those of one moment by their names, so that all processes keep the same. */
function byRecency(a: Unit, b: Unit): number {
  if (a.last_at !== b.last_at) return b.last_at - a.last_at
  return a.unit < b.unit ? -1 : 1
}

/** The last alarm of a class, if there was one. Classes may have names such as `constructor`. */
export function alarmOf({ alarms }: TenantArms, name: string): TenantArms['alarms'][string] | null {
  return Object.hasOwn(alarms, name) ? alarms[name]! : null
}

/** The sums of a class since its last alarm: what came after it was turned on again. */
export function sinceAlarm(arms: TenantArms, name: string): ClassArms {
  const now = Object.hasOwn(arms.classes, name) ? arms.classes[name]! : NO_ARMS
  return combine(now, alarmOf(arms, name)?.sums ?? NO_ARMS, subtract)
}

function subtract(a: ArmSums, b: ArmSums): ArmSums {
  const sums: Record<keyof ArmSums, number> = { ...a }
  // What is left of two equal sums may be a little below 0.
  for (const name of SUM_NAMES) sums[name] = Math.max(0, a[name] - b[name])
  return sums
}

export function writeArms(arms: TenantArms): Uint8Array {
  return Buffer.from(JSON.stringify(arms))
}

/** Returns `null` if the bytes are no such sums. */
export function readArms(bytes: Uint8Array): TenantArms | null {
  try {
    return armsSchema.parse(JSON.parse(Buffer.from(bytes).toString()))
  } catch {
    return null
  }
}
