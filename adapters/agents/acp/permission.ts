import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { AgentRunRequest } from '../../../domain/external/request.ts'
import type { BackendRun } from '../../../domain/ports/external.ts'
import { callInputOf } from './updates.ts'

/** Answers an agent's permission request. Null: nobody decided, and the tool does not run. */
export type AskPermission = NonNullable<BackendRun['ask']>

export interface PermissionAnswer {
  readonly response: RequestPermissionResponse
  /** Null: the request was cancelled. */
  readonly allowed: boolean | null
}

/**
 * Decides a permission request. In the caller's sandbox every tool is allowed. A non-interactive run rejects the
 * request. Otherwise a person decides. The answer counts once if the agent offers an option for that.
 */
export async function decidePermission(
  { toolCall, options }: RequestPermissionRequest,
  { extensions = {} }: AgentRunRequest,
  ask: AskPermission | undefined,
): Promise<PermissionAnswer> {
  const any = (...kinds: PermissionOption['kind'][]) =>
    kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option !== undefined)
  if (extensions['agent_api.exec.external_sandbox.v1'] === true) return decided(any('allow_once', 'allow_always'))
  const rejected = () => decided(any('reject_once', 'reject_always'))
  if (ask === undefined || extensions['agent_api.exec.non_interactive'] === true) return rejected()
  const { title, kind } = toolCall
  const counts = forAlways(options)
  const question = [...(counts === null ? [] : [`${counts}: the agent offers nothing else.`]), title ?? ''].join(' ')
  const answer = await ask({ tool: kind ?? 'other', title: question, input: callInputOf(toolCall) })
  if (answer === null) return decided(undefined)
  return answer === 'approved' ? decided(any('allow_once', 'allow_always')) : rejected()
}

/** Which answers also count for later requests, because the agent has no option for this request alone. Null: none. */
function forAlways(options: readonly PermissionOption[]): string | null {
  const only = (once: PermissionOption['kind'], always: PermissionOption['kind']) =>
    !options.some(({ kind }) => kind === once) && options.some(({ kind }) => kind === always)
  const [approving, rejecting] = [only('allow_once', 'allow_always'), only('reject_once', 'reject_always')]
  if (approving && rejecting) return 'Approving and rejecting count for always'
  if (approving) return 'Approving counts for always'
  return rejecting ? 'Rejecting counts for always' : null
}

function decided(option: PermissionOption | undefined): PermissionAnswer {
  if (option === undefined) return { response: { outcome: { outcome: 'cancelled' } }, allowed: null }
  const response = { outcome: { outcome: 'selected', optionId: option.optionId } } as const
  return { response, allowed: option.kind.startsWith('allow') }
}
