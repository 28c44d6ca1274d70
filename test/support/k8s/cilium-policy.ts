import { z } from 'zod'

const labels = z.record(z.string(), z.string())

/** Cilium's own kind, as far as this project uses it; no published model has it. */
const ciliumPolicySchema = z.strictObject({
  apiVersion: z.literal('cilium.io/v2'),
  kind: z.literal('CiliumNetworkPolicy'),
  metadata: z.strictObject({ name: z.string(), namespace: z.string(), labels }),
  spec: z.strictObject({
    endpointSelector: z.strictObject({ matchLabels: labels }),
    egress: z.array(
      z.strictObject({
        toEndpoints: z.array(z.strictObject({ matchLabels: labels })).optional(),
        toFQDNs: z.array(z.strictObject({ matchName: z.hostname() })).optional(),
        toPorts: z.array(
          z.strictObject({
            ports: z.array(
              z.strictObject({
                // A number as a string: the kind takes nothing else.
                port: z.string().regex(/^\d{1,5}$/),
                protocol: z.enum(['ANY', 'TCP', 'UDP']),
              }),
            ),
            rules: z
              .strictObject({ dns: z.array(z.strictObject({ matchPattern: z.string() })) })
              .optional(),
          }),
        ),
      }),
    ),
  }),
})

export type CiliumNetworkPolicy = z.infer<typeof ciliumPolicySchema>

/** What is wrong with an object of that kind. */
export function faultsOfCiliumPolicy(object: object): string[] {
  const { error } = ciliumPolicySchema.safeParse(object)
  return (error?.issues ?? []).map(({ path, message }) => `${path.join('/')}: ${message}`)
}
