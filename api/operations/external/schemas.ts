import { z } from 'zod'

/** A kind of agent for runs. */
export const AgentKind = z
  .strictObject({
    kind: z.string(),
    ungoverned: z.boolean().meta({ description: 'Our policy sees nothing of what such an agent does' }),
    capabilities: z.array(z.string()).readonly(),
    installed: z.boolean(),
    version: z.string().nullable().meta({ description: 'null: its program tells none' }),
    login: z.enum(['found', 'missing', 'unknown']).meta({
      description: 'Whether a key or a login of its program was found here; the service itself is not asked',
    }),
    loginAt: z.string().nullable().meta({ description: 'The variable or file that holds it' }),
    problem: z.string().nullable().meta({ description: 'Why it cannot be used, and what to do' }),
  })
  .meta({ id: 'AgentKind' })
export type AgentKind = z.infer<typeof AgentKind>

export const AgentList = z.strictObject({ agents: z.array(AgentKind).readonly() }).meta({ id: 'AgentKindList' })
