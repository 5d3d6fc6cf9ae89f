import type { Identity } from '../../../domain/access/runtime/access-gate.ts'
import { RECOVERY } from '../../../domain/access/state.ts'
import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import type { Request } from '../../../domain/agent/runtime/types.ts'
import { type Actor, isTraceParent } from '../../../domain/log/envelope.ts'
import { echo } from '../../../domain/log/issues.ts'
import { accountName } from '../access/account-name.ts'
import { Problem } from '../problem.ts'

/** The options of a request, without its content. */
export interface RequestOptions extends Pick<Request, 'key' | 'trace' | 'correlationId'> {
  /** The expected revision of the agent. Absent: any. */
  readonly expectedRevision?: number
  /** The authenticated principal with its rights. Absent: access is off, so the name of the person is not verified. */
  readonly identity?: Identity
}

/** The options that the log records with the events. Ignores a malformed trace context, as W3C requires. */
export const tracing = ({ trace, correlationId }: RequestOptions): Pick<Request, 'trace' | 'correlationId'> => ({
  ...(trace === undefined || !isTraceParent(trace) ? {} : { trace }),
  ...(correlationId === undefined ? {} : { correlationId }),
})

/**
 * The person of a command. Without an authenticated principal the name is marked as claimed. Throws BY_REFUSED when a
 * principal claims another name.
 */
export function actorOf(
  kind: 'user' | 'approver',
  by: string | undefined,
  { identity }: Pick<RequestOptions, 'identity'>,
): Actor {
  if (identity === undefined) return { kind, id: by ?? 'anonymous', claimed: true }
  const { principal } = identity
  if (by === undefined || by === principal) return { kind, id: principal }
  if (principal !== RECOVERY)
    throw new Problem('BY_REFUSED', `this key belongs to ${principal}; leave out "by", or use a key of ${echo(by)}`)
  // Without a name from the person, the command line sends the name of the operating system's user.
  if (by === accountName()) return { kind, id: principal }
  throw new Problem(
    'BY_REFUSED',
    `without a key, facts record "${RECOVERY}" (the owner of the data folder); leave out "by", or use a key of ${echo(by)}`,
  )
}

export interface Asked {
  readonly agentId: string
  readonly command: UserCommand
  readonly actor: Actor
  readonly options: RequestOptions
  /** `wake`: only if this process drives by itself, and the run was started for any driver. */
  readonly drive: 'yes' | 'no' | 'wake'
}
