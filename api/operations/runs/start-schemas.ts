import { z } from 'zod'
import { partly } from '../../../domain/agent/definition/optional-members.ts'
import { ErrorRecoveryPolicy, Policy, RequestedPolicy } from '../../../domain/calls/policy-schema.ts'
import { Milliseconds } from '../../../domain/log/time-span.ts'
import { grantOf } from '../../../domain/secrets/destinations.ts'
import { RoutingConfig } from '../../../domain/tree/routing-config.ts'
import {
  Budget,
  ContextManagementConfig,
  KNOWLEDGE_SOURCES,
  Knowledge,
  RecoveryConfig,
  TreeLimits,
  VARIABLE_NAME,
} from '../../../domain/tree/spec.ts'
import { By, Folder, JsonValue } from '../schemas.ts'
import { OWN_AGENT } from './own-agent.ts'

const names = z.array(z.string().min(1))

/** The text form of a grant of a secret. The error says which form is right. */
const Grant = z.string().superRefine((text, { addIssue }) => {
  const fault = grantOf(text)
  if (typeof fault === 'string') addIssue({ code: 'custom', message: fault, input: text })
})

/** `maxTurns` absent: the role's loop plus `recovery.graceTurns`, 25 without a role. Times in ms. */
export const RunLimits = z
  .strictObject({
    maxTurns: z.int().positive().optional(),
    wallClockMs: Milliseconds.nullable().optional(),
  })
  .meta({ id: 'RunLimits', description: 'The limits of a run' })

/** Members that contain further settings. */
const SETTINGS = {
  policy: partly(RequestedPolicy),
  limits: RunLimits,
  recovery: partly(RecoveryConfig).meta({
    id: 'RecoveryConfig',
    description: 'What an agent gets when a limit is near: a warning, and time to end',
  }),
  retry: partly(ErrorRecoveryPolicy),
  context: partly(ContextManagementConfig),
  budget: Budget.partial(),
  delegation: partly(TreeLimits).meta({
    id: 'TreeLimits',
    description: 'How deep and how large the tree of agents may become',
  }),
}

/** `mode` becomes `policy.mode`: people often write a setting one level too high. */
const DEEPER = new Map(
  Object.entries(SETTINGS).flatMap(([outer, { shape }]) => Object.keys(shape).map((key) => [key, `${outer}.${key}`])),
)

function deeper({ code, keys }: z.core.$ZodRawIssue): string | undefined {
  const meant = code === 'unrecognized_keys' ? (keys as string[]).flatMap((key) => DEEPER.get(key) ?? []) : []
  return meant.length === 0 ? undefined : `did you mean ${meant.join(', ')}?`
}

/**
 * The settings of an external agent's run. Of the policy only `sandboxed` applies, because keepup does not control the
 * agent's calls.
 */
const OF_AGENTS: ReadonlySet<string> = new Set([
  ...['agent', 'task', 'model', 'workspace', 'limits', 'budget', 'env', 'extensions', 'drive', 'by', 'policy'],
])

/** Refuses members of the other kind of run. */
function ofItsAgent(asked: Readonly<Record<string, unknown>>, { addIssue }: z.core.$RefinementCtx): void {
  const refuse = (path: string[], message: string) => addIssue({ code: 'custom', path, message, input: asked })
  const given = Object.keys(asked).filter((key) => asked[key] !== undefined)
  if (asked.agent === undefined || asked.agent === OWN_AGENT) {
    for (const key of ['env', 'extensions'])
      if (given.includes(key)) refuse([key], 'goes with another agent only; name it in "agent", or leave this out')
    return
  }
  for (const key of given)
    if (!OF_AGENTS.has(key)) refuse([key], "is for keepup's own agent; leave it out, or use the agent's own extensions")
  for (const key of Object.keys((asked.policy ?? {}) as object))
    if (key !== 'sandboxed')
      refuse(['policy', key], "is for keepup's own agent; leave it out, or use the agent's own extensions")
  const { maxTurns } = (asked.limits ?? {}) as { maxTurns?: unknown }
  if (maxTurns !== undefined)
    refuse(['limits', 'maxTurns'], "is for keepup's own agent; leave it out, or use the agent's own extensions")
  if (asked.task === undefined) refuse(['task'], 'say what the agent is to do')
  if (asked.workspace === undefined) refuse(['workspace'], 'name the folder in which the agent is to work')
  if (asked.drive === false) refuse(['drive'], 'a run of another agent begins at once; leave it out')
}

/** The request that starts a run (POST /v1/runs). All members except the task have defaults. */
export const StartRun = z
  .strictObject(
    {
      task: z.string().trim().min(1).optional().meta({ description: 'Absent: the run waits for input.' }),
      role: z.string().min(1).optional(),
      model: z.string().min(1).max(300).optional(),
      routing: RoutingConfig.optional().meta({
        description: 'Rules that choose among several models, in place of `model`.',
      }),
      cache: z.boolean().optional().meta({ description: 'Whether answers may come from the request cache.' }),
      policy: SETTINGS.policy.optional(),
      limits: SETTINGS.limits.optional(),
      recovery: SETTINGS.recovery.optional(),
      retry: SETTINGS.retry.optional(),
      context: SETTINGS.context.optional(),
      knowledge: z
        .array(Knowledge)
        .max(KNOWLEDGE_SOURCES)
        .optional()
        .meta({ description: 'Beside that of the settings; one of the same name replaces it.' }),
      tools: names.optional().meta({ description: 'Names of the tools to offer. Absent: all that are configured.' }),
      workspace: Folder.optional().meta({ description: 'Absolute path of the folder to work in.' }),
      testCommand: z.array(z.string()).min(1).optional(),
      contextVariables: z.record(z.string().max(VARIABLE_NAME), JsonValue).optional(),
      secrets: z
        .array(Grant)
        .optional()
        .meta({
          description:
            'Names of secrets, never values. NAME gives the secret to built-in tools on this machine, NAME=@server:SERVER to ' +
            'the tools of a server, NAME=@host:HOST[:PORT] to read_url and search_web for this host, and ' +
            'NAME=@command:PROGRAM to command lines of this program. A name may stand several times.',
        }),
      budget: SETTINGS.budget.optional().meta({ description: 'Tokens, and money in nano-dollars.' }),
      delegation: z
        .union([z.literal(false), SETTINGS.delegation])
        .optional()
        .meta({ description: 'Limits of the agents that the run starts. False: it starts none. Absent: the setting.' }),
      approve: names.optional().meta({ description: 'Standing approval: these tools do not ask.' }),
      instructions: z.string().min(1).optional(),
      agent: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .meta({ description: "The kind of agent, of GET /v1/agents. Absent: keepup's own." }),
      env: z
        .record(z.string(), z.string())
        .optional()
        .meta({ description: 'With agent: variables for it. Their values are not recorded.' }),
      extensions: z
        .record(z.string(), JsonValue)
        .optional()
        .meta({ description: 'With agent: what else it is asked for, of its capabilities.' }),
      drive: z.boolean().default(true).meta({ description: 'False: only record the run.' }),
      by: By.optional(),
    },
    { error: deeper },
  )
  .superRefine(ofItsAgent)
  .meta({ id: 'StartRun' })
export type StartRun = z.infer<typeof StartRun>
export type StartRunInput = z.input<typeof StartRun>

const { task, role, model, agent, workspace } = StartRun.shape
/** The part of {@link StartRun} that a program may ask for which a model controls: no right beyond the defaults. */
export const StartByTool = z.strictObject({
  ...{ task, role, model, agent, workspace },
  policy: Policy.pick({ mode: true }).optional(),
})
