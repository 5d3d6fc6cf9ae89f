import { CommandRejected } from '../../calls/errors.ts'
import { echo } from '../../log/issues.ts'

/** The log has no agent of this id. */
export const unknownAgent = (agentId: string) =>
  new CommandRejected('RUN_UNKNOWN', `there is no agent ${echo(agentId)}`)
