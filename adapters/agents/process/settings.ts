import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { DELEGABLE } from '../../../domain/agent/definition/spec.ts'
import { AGENT_KIND } from '../../../domain/external/capabilities.ts'

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' })

/** The kinds that keepup brings: no program of the settings may be called so. */
const OWN = ['keepup', 'claude_code', 'codex', 'gemini', 'opencode']

const KIND = { error: 'expected a small letter, then small letters, digits and "_"' }
const kind = z
  .string()
  .max(64)
  .regex(AGENT_KIND, KIND)
  .refine((name) => !OWN.includes(name), { error: `expected another name than ${OWN.join(', ')}` })

/** Settings of other agents. */
export const AgentSettings = z.strictObject({
  /** Variables that a request over the network may set for an agent. */
  env: z.array(variable).default([]),
  /** Folders in which, and below which, a request over the network may have an agent work. */
  folders: z.array(z.string().refine(isAbsolute, 'expected the absolute path of a folder')).default([]),
  /** Further folders that confined agents can change, and paths that they can read. Null: agents may do what the user may. */
  confinement: z
    .strictObject({
      writable: z.array(z.string().refine(isAbsolute, 'expected the absolute path of a folder')).default([]),
      readable: z.array(z.string().refine(isAbsolute, 'expected an absolute path')).default([]),
    })
    .nullable()
    .default({ writable: [], readable: [] }),
  /** Roles that agents delegate to another agent, in runs whose policy grants its kind (`policy.backends`). */
  roles: z
    .partialRecord(
      z.enum(DELEGABLE),
      z.strictObject({
        kind: z.string().max(64).regex(AGENT_KIND, KIND),
        /** The model that it is started with; absent: its own default. */
        model: z.string().trim().min(1).max(256).optional(),
      }),
    )
    .default({}),
  /** Programs that speak the Agent Client Protocol, by the kind under which they are asked for. */
  acp: z
    .record(
      kind,
      z.strictObject({
        /** Program and arguments. The program is found outside of every workspace. */
        command: z.array(z.string().min(1)).min(1),
        /** Variables of our environment that it is given, such as its key. */
        env: z.array(variable).default([]),
      }),
    )
    .default({}),
})
export type AgentSettings = z.infer<typeof AgentSettings>
