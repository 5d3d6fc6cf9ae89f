import { ERASED } from '../calls/events/residue.ts'
import { type AgentSpec, WARNING } from './spec.ts'

/**
 * The spec without the text that people wrote. A fork can run with it: the default warning replaces the run's warning.
 * The test command and the role's idempotent commands remain, because gates and retries depend on them.
 */
export function withoutText(spec: AgentSpec): AgentSpec {
  const { instructions, knowledge, role, workspace, recovery } = spec
  return {
    ...spec,
    contextVariables: {},
    role: role && { ...role, profile: ERASED, goal: ERASED },
    workspace: workspace && { ...workspace, path: ERASED },
    recovery: { ...recovery, warningTemplate: WARNING },
    ...(instructions === undefined ? {} : { instructions: ERASED }),
    ...(knowledge === undefined ? {} : { knowledge: [] }),
  }
}
