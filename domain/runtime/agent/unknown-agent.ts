import { CommandRejected } from '../../agent/errors.ts'
import { echo } from '../../shared/issues.ts'

/** The log has no agent of this id. */
export const unknownAgent = (agentId: string) =>
  new CommandRejected('RUN_UNKNOWN', `there is no agent ${echo(agentId)}`)
