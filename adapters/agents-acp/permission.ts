import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { AgentRunRequest } from '../../domain/external/request.ts'
import type { Json } from '../../domain/log/json.ts'
import { inputOf } from './updates.ts'

/** What an agent asks leave for. */
export interface PermissionAsked {
  readonly agentId: string
  readonly toolCallId: string
  readonly title: string
  /** What the tool is to do, or what the agent shows of it. */
  readonly input: Json
  readonly options: readonly {
    readonly id: string
    readonly name: string
    readonly kind: 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'
  }[]
}

/** Answers with the id of an option, or null: no decision was made, and the tool is not run. The signal ends with the run. */
export type AskPermission = (asked: PermissionAsked, signal: AbortSignal) => Promise<string | null>

export interface Decided {
  readonly response: RequestPermissionResponse
  /** Null: it was cancelled. */
  readonly allowed: boolean | null
}

/**
 * Decides what an agent asks. In the caller's sandbox each tool is allowed; a run that asks no questions rejects it; else
 * `ask` decides, and where there is none it is rejected.
 */
export async function decidePermission(
  { toolCall, options }: RequestPermissionRequest,
  agentId: string,
  { extensions = {} }: AgentRunRequest,
  ask: AskPermission | undefined,
  signal: AbortSignal,
): Promise<Decided> {
  const any = (...kinds: PermissionOption['kind'][]) =>
    kinds.map((kind) => options.find((option) => option.kind === kind)).find((option) => option !== undefined)
  if (extensions['agent_api.exec.external_sandbox.v1'] === true) return decided(any('allow_once', 'allow_always'))
  if (ask === undefined || extensions['agent_api.exec.non_interactive'] === true)
    return decided(any('reject_once', 'reject_always'))
  const { toolCallId, title } = toolCall
  const choices = options.map(({ optionId: id, name, kind }) => ({ id, name, kind }))
  const answer = await ask(
    { agentId, toolCallId, title: title ?? '', input: inputOf(toolCall), options: choices },
    signal,
  )
  return decided(options.find(({ optionId }) => optionId === answer))
}

function decided(option: PermissionOption | undefined): Decided {
  if (option === undefined) return { response: { outcome: { outcome: 'cancelled' } }, allowed: null }
  const response = { outcome: { outcome: 'selected', optionId: option.optionId } } as const
  return { response, allowed: option.kind.startsWith('allow') }
}
