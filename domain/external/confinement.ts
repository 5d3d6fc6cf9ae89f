import { z } from 'zod'

/** Whether the run's process is confined to its workspace and its own folders. `reason`: why it is not confined. */
export const Confinement = z.discriminatedUnion('confined', [
  z.strictObject({ confined: z.literal(true) }),
  z.strictObject({ confined: z.literal(false), reason: z.string().min(1) }),
])
export type Confinement = z.infer<typeof Confinement>
