import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import type { Request } from '../../../domain/agent/runtime/types.ts'
import { type Actor, isTraceParent } from '../../../domain/log/envelope.ts'

/** The options of a request, without its content. */
export interface RequestOptions extends Pick<Request, 'key' | 'trace' | 'correlationId'> {
  /** The expected revision of the agent. Absent: any. */
  readonly expectedRevision?: number
}

/** The options that the log records with the events. Ignores a malformed trace context, as W3C requires. */
export const tracing = ({ trace, correlationId }: RequestOptions): Pick<Request, 'trace' | 'correlationId'> => ({
  ...(trace === undefined || !isTraceParent(trace) ? {} : { trace }),
  ...(correlationId === undefined ? {} : { correlationId }),
})

/** The person of a command. The name is not verified, so it is marked as claimed. */
export function actorOf(kind: 'user' | 'approver', by: string | undefined): Actor {
  return { kind, id: by ?? 'anonymous', claimed: true }
}

export interface Asked {
  readonly agentId: string
  readonly command: UserCommand
  readonly actor: Actor
  readonly options: RequestOptions
  /** `wake`: only if this process drives by itself, and the run was started for any driver. */
  readonly drive: 'yes' | 'no' | 'wake'
}
