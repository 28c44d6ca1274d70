let sent: Response | undefined

/**
 * The response of requests that are answered on Node's own streams. The server's adapter knows it
 * by its header. Made when it is first needed, since it loads Node's `fetch`. A response of the
 * adapter's own class would be sent from its cache, and a clone is Node's.
 */
export function alreadySent(): Response {
  sent ??= new Response(null, { headers: { 'x-hono-already-sent': 'true' } }).clone()
  return sent
}
