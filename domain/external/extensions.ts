import { z } from 'zod'

const text = z
  .string()
  .trim()
  .min(1)
  .refine((value) => !value.includes('\0'), 'may not hold a NUL character')

/** The earlier session that a run continues: the last one in the working folder, or the one with this id. */
export const SessionSelector = z.discriminatedUnion('selector', [
  z.strictObject({ selector: z.literal('last') }),
  z.strictObject({ selector: z.literal('id'), id: text.max(256).regex(/^[^-]/, 'may not begin with "-"') }),
])
export type SessionSelector = z.infer<typeof SessionSelector>

/** Core ids that are extensions, with the types of their values. */
export const CORE_EXTENSIONS = {
  'agent_api.session.resume.v1': SessionSelector,
  'agent_api.session.fork.v1': SessionSelector,
  'agent_api.config.model.v1': text.max(256).regex(/^[^-]/, 'may not begin with "-"'),
  /** True: the agent asks no questions and refuses actions that need an answer. The default if a backend cannot ask. */
  'agent_api.exec.non_interactive': z.boolean(),
  'agent_api.exec.add_dirs.v1': z.strictObject({
    dirs: z.array(text.startsWith('/', 'an absolute path is expected')).min(1).max(64),
  }),
  /** True: the caller's sandbox confines the agent, so the agent disables its own approvals and sandbox. */
  'agent_api.exec.external_sandbox.v1': z.boolean(),
} as const satisfies Readonly<Record<string, z.ZodType>>

/** The values of a request's extensions after validation: core extensions and the backend's own ones. */
export type Extensions = {
  readonly [Id in keyof typeof CORE_EXTENSIONS]?: z.infer<(typeof CORE_EXTENSIONS)[Id]>
} & { readonly [id: `backend.${string}`]: unknown }
