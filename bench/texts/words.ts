import type { Random } from '../support/random.ts'

/** Something of a list, by chance. */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)]!
}

/** Lower-case hexadecimal digits. */
export function hex(random: Random, chars: number): string {
  return Array.from({ length: chars }, () => random(16).toString(16)).join('')
}

/** Names of services, packages and files. */
export const NAMES =
  'api billing cache carrier catalog checkout courier depot dispatch edge feed gateway gear harbor index intake invoice ledger mailer metrics orders parcel quota queue rates relay router search shelf signer stock tariff tracker vault'.split(
    ' ',
  )
export const TEAMS = ['search', 'payments', 'platform', 'support']

/** A version of three numbers. */
export function version(random: Random): string {
  return `${random(9)}.${random(20)}.${random(12)}`
}
