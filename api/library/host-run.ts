import { z } from 'zod'
import { checkPattern } from '../../domain/agent/rules/admission.ts'
import { Policy, RequestedPolicy } from '../../domain/calls/policy-schema.ts'
import { Effect } from '../../domain/calls/tools/tool-spec.ts'
import type { HostedKind } from '../../domain/external/hosted/state.ts'
import type { HostedRun } from '../../domain/external/runtime/hosted-run.ts'
import { hostedRunId } from '../../domain/log/ids.ts'
import { externalAgents } from '../operations/external/agents.ts'
import { mustWrite } from '../operations/runs/record-command.ts'
import { actorOf } from '../operations/runs/request-options.ts'
import type { Services } from '../operations/services.ts'
import { parsed } from './parsed.ts'
import type { Caller } from './sender.ts'

/** The rules for the calls of a hosted agent, as the program gives them. */
export const HostRules = z.strictObject({
  /** Patterns are names of the program's tools, `server:*` and `*`. Default: every call is allowed. */
  policy: RequestedPolicy.partial().omit({ mode: true, maxParallel: true, sandboxed: true, backends: true }).optional(),
  /** What a second execution of a tool does, by tool pattern. Default: irreversible. */
  effects: z.record(z.string(), Effect).optional(),
})
export type HostRules = z.input<typeof HostRules>

/** A run that this program hosts. The same kind, scope and name are the same run. */
export interface HostRun {
  readonly kind: HostedKind
  readonly scope?: string
  readonly name: string
  /** What the run is about. */
  readonly prompt: string
  readonly extensions?: Readonly<Record<string, string>>
  readonly rules?: HostRules
}

/**
 * Starts a run that this program hosts, or continues it. The rules of its start stay in force. Rejects with `READ_ONLY`,
 * `INVALID_REQUEST` for rules that cannot be read, and `RUN_EXISTS` if another kind of agent has the run.
 */
export async function hostRun(s: Services, asked: HostRun, { by, options }: Caller): Promise<HostedRun> {
  mustWrite(s)
  const { kind, scope = '', name, prompt, extensions, rules = {} } = asked
  const { policy, effects = {} } = parsed(HostRules, rules)
  for (const source of policy?.secretPatterns ?? []) checkPattern(source)
  return externalAgents(s).host({
    ...{ kind, agentId: hostedRunId(kind, scope, name), prompt, effects },
    ...(extensions !== undefined && { extensions }),
    // The program decides which calls run together.
    policy: Policy.parse({ ...policy, mode: 'batch', sandboxed: false }),
    by: actorOf('user', by, options),
  })
}
