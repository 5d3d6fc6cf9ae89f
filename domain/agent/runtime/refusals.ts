import { agentStream } from '../../log/ids.ts'
import * as stream from '../../stream/runtime/idempotency-keys.ts'
import * as mailbox from '../../stream/runtime/mailbox.ts'
import { agent } from '../decide/aggregate.ts'

export const isRepeatedRequest = (recorded: string | undefined, commandId: string): boolean =>
  stream.isRepeated(agent, recorded, commandId)

export const agentRevisionChanged = (agentId: string, revision: number): Error =>
  mailbox.revisionChanged(agent, agentStream(agentId), revision)
