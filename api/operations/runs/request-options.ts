import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import type { Request } from '../../../domain/agent/runtime/types.ts'
import { type Actor, isTraceParent } from '../../../domain/log/envelope.ts'

/** The options of a request beside its content. */
export interface RequestOptions extends Pick<Request, 'key' | 'trace' | 'correlationId'> {
  /** The revision that the agent must still be at; absent: any. */
  readonly expectedRevision?: number
}

/** The part of the options that the log records with the events. W3C asks to ignore a malformed trace context. */
export const tracing = ({ trace, correlationId }: RequestOptions): Pick<Request, 'trace' | 'correlationId'> => ({
  ...(trace === undefined || !isTraceParent(trace) ? {} : { trace }),
  ...(correlationId === undefined ? {} : { correlationId }),
})

/** The person who asks. The name is not checked, so it is marked as claimed. */
export function actorOf(kind: 'user' | 'approver', by: string | undefined): Actor {
  return { kind, id: by ?? 'anonymous', claimed: true }
}

export interface Asked {
  readonly agentId: string
  readonly command: UserCommand
  readonly actor: Actor
  readonly options: RequestOptions
  /** `wake`: only where this process drives by itself, and the run was asked to be driven. */
  readonly drive: 'yes' | 'no' | 'wake'
}
