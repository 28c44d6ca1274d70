/** A server of MCP as a client of 2025 sees it, without an SDK: it costs next to nothing. */
export interface Peer {
  /** Processes whose time is told beside the figures, by name. */
  readonly pids: Readonly<Record<string, number>>
  /**
   * Sends one request, resolves to the whole answer.
   * @param params a JSON text
   */
  request(method: string, params: string): Promise<Buffer>
  close(): Promise<void>
}

/** Parameters of a handshake. */
export const INITIALIZE = JSON.stringify({
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1' },
})

/** Calls a tool. Throws if the answer is not this call's. */
export async function callTool(peer: Peer, tool: string, nonce: string): Promise<Buffer> {
  const params = `{"name":"${tool}","arguments":{"nonce":"${nonce}"}}`
  const answer = await peer.request('tools/call', params)
  if (!answer.includes(nonce)) throw new Error(`another answer: ${answer.toString('utf8', 0, 300)}`)
  return answer
}
