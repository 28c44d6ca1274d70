import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { mirroredParams, mirroredValue } from '../../catalogue/mirrored-params.ts'
import type { Outcome } from '../../json-rpc.ts'
import { EMPTY_OBJECT, objectMember } from '../../members.ts'
import { headerText, type ReadHeader } from './header-text.ts'
import { mismatch } from './request-rules.ts'

/**
 * Whether the headers `Mcp-Param-…` of a call repeat its arguments, as the tool's schema wants.
 * @param definition of the tool, as listed
 * @returns the error of the first that does not; else `null`
 */
export function checkMirrors(
  definition: JsonBytes,
  params: JsonBytes,
  header: ReadHeader,
): Outcome | null {
  const args = objectMember(params, 'arguments') ?? EMPTY_OBJECT
  for (const param of mirroredParams(definition) ?? []) {
    const name = `mcp-param-${param.header.toLowerCase()}`
    const sent = header(name)
    const inBody = mirroredValue(param, args)
    if (sent === null && inBody === null) continue
    const text = sent === null ? null : headerText(sent)
    if (text === null || inBody === null || !isSame(text, inBody, param.isNumber)) {
      return mismatch(name, sent, inBody).outcome
    }
  }
  return null
}

const INTEGER = /^-?\d+$/

/** Numbers may be spelled in two ways; large ones are compared digit by digit. */
function isSame(text: string, inBody: string, isNumber: boolean): boolean {
  if (text === inBody) return true
  if (!isNumber || text === '') return false
  if (INTEGER.test(text) && INTEGER.test(inBody)) return BigInt(text) === BigInt(inBody)
  return Number.isFinite(Number(text)) && Number(text) === Number(inBody)
}
