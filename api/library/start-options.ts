import { isAbsolute, resolve } from 'node:path'
import type { SecurityPolicy, ToolExecutionContext } from '../../domain/calls/policy-schema.ts'
import { policyOf } from '../operations/policy/library.ts'
import { Problem } from '../operations/problem.ts'
import { OWN_AGENT } from '../operations/runs/own-agent.ts'
import type { StartRunInput } from '../operations/runs/start-schemas.ts'
import { type ErrorRecoveryPolicy, retryOf } from './retry-setting.ts'

/**
 * The request that starts a run: the body of `POST /v1/runs`, and the interfaces of seed 000 section 5 in their
 * original form. Either `policy`, or `execution` and `security`. `workspace` may be relative to the current folder.
 */
export interface StartOptions extends Omit<StartRunInput, 'retry'> {
  readonly execution?: Partial<ToolExecutionContext>
  readonly security?: Partial<SecurityPolicy>
  readonly retry?: Partial<ErrorRecoveryPolicy>
  /** A repeated request with the same key returns the run that it started, also after a restart. */
  readonly key?: string
}

/** The HTTP request that starts the same run. Throws INVALID_REQUEST if options contradict each other. */
export function requestFromOptions({ key: _, execution, security, retry, ...rest }: StartOptions): unknown {
  if (rest.policy && (execution || security)) {
    throw new Problem('INVALID_REQUEST', 'give either policy, or execution and security')
  }
  return {
    ...rest,
    ...(rest.workspace !== undefined && !isAbsolute(rest.workspace) && { workspace: resolve(rest.workspace) }),
    ...(retry && { retry: retryOf(retry) }),
    ...((execution || security) && { policy: policyOf(execution, security) }),
    // An external agent starts at once, without a driver.
    ...((rest.agent === undefined || rest.agent === OWN_AGENT) && { drive: rest.drive ?? false }),
  }
}
