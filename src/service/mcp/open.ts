import type { createMcpEndpoints, ServiceEndpoints } from './endpoints.ts'

type Given = Parameters<typeof createMcpEndpoints>

/**
 * The endpoints of MCP. Proxies that are alone start without their modules.
 * @param isAlone whether nothing but the vendor proxies is offered
 */
export async function openMcp(isAlone: boolean, ...given: Given): Promise<ServiceEndpoints> {
  if (isAlone) return NO_ENDPOINTS
  const { createMcpEndpoints } = await import('./endpoints.ts')
  return createMcpEndpoints(...given)
}

const NO_ENDPOINTS: ServiceEndpoints = {
  find: () => null,
  read: () => {},
  drain: () => {},
  close: () => Promise.resolve(),
}
