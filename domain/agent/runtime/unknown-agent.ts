import { CommandRejected } from '../../calls/errors.ts'
import { echo } from '../../log/issues.ts'

export const unknownAgent = (agentId: string) =>
  new CommandRejected('RUN_UNKNOWN', `there is no agent ${echo(agentId)}`)
