import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { AGENT_KIND } from '../../../domain/external/capabilities.ts'
import { DELEGABLE } from '../../../domain/tree/spec.ts'

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' })

/** The built-in kinds. A program in the settings may not use them. */
const OWN = ['keepup', 'claude_code', 'codex', 'gemini', 'opencode']

const KIND = { error: 'expected a small letter, then small letters, digits and "_"' }
const kind = z
  .string()
  .max(64)
  .regex(AGENT_KIND, KIND)
  .refine((name) => !OWN.includes(name), { error: `expected another name than ${OWN.join(', ')}` })

/** The settings of other agents. */
export const AgentSettings = z.strictObject({
  /** Variables that a request over the network may set for an agent. */
  env: z.array(variable).default([]),
  /** Folders that a request over the network may name as an agent's working folder, and the folders below them. */
  folders: z.array(z.string().refine(isAbsolute, 'expected the absolute path of a folder')).default([]),
  /**
   * More folders that confined agents can change, and paths that they can read. Null: agents have the user's rights.
   */
  confinement: z
    .strictObject({
      writable: z.array(z.string().refine(isAbsolute, 'expected the absolute path of a folder')).default([]),
      readable: z.array(z.string().refine(isAbsolute, 'expected an absolute path')).default([]),
    })
    .nullable()
    .default({ writable: [], readable: [] }),
  /**
   * The roles whose delegated work goes to another agent, if the run's policy grants the agent's kind
   * (`policy.backends`).
   */
  roles: z
    .partialRecord(
      z.enum(DELEGABLE),
      z.strictObject({
        kind: z.string().max(64).regex(AGENT_KIND, KIND),
        /** The model to start the agent with. Absent: the agent's default. */
        model: z.string().trim().min(1).max(256).optional(),
      }),
    )
    .default({}),
  /** Programs that speak the Agent Client Protocol, by their backend kind. */
  acp: z
    .record(
      kind,
      z.strictObject({
        /** The program and its arguments. Programs in workspaces are not used. */
        command: z.array(z.string().min(1)).min(1),
        /** Variables of keepup's environment that the program gets, such as its key. */
        env: z.array(variable).default([]),
      }),
    )
    .default({}),
})
export type AgentSettings = z.infer<typeof AgentSettings>
