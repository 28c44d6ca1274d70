import type { JsonBytes } from '../core/json/bytes/json-node.ts'
import { objectMember } from './members.ts'

/**
 * The extensions that a client and a server both name, with what the first server says of each.
 * @param client capabilities: a JSON object
 * @returns a JSON object; `null` if there are none
 */
export function sharedExtensions(
  client: JsonBytes,
  servers: readonly JsonBytes[],
): JsonBytes | null {
  const named = objectMember(client, 'extensions')
  if (named === null) return null
  const found: JsonBytes[] = []
  for (const name of Object.keys(JSON.parse(named.toString()))) {
    const settings = servers
      .map(capabilities => objectMember(capabilities, 'extensions'))
      .map(extensions => extensions && objectMember(extensions, name))
      .find(each => each !== null)
    if (settings == null) continue
    found.push(Buffer.from(`${found.length === 0 ? '' : ','}${JSON.stringify(name)}:`), settings)
  }
  if (found.length === 0) return null
  return Buffer.concat([Buffer.from('{'), ...found, Buffer.from('}')])
}
