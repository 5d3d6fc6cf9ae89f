import type { z } from 'zod'
import type { UserCommand } from '../../../domain/agent/decisions/commands.ts'
import type { Recorded } from '../schemas/common.ts'
import type { MessageBody } from '../schemas/messages.ts'
import type { Services } from '../services.ts'
import { agentsOf } from './agents-of.ts'
import { mustBeRun } from './known.ts'
import { actorOf, record } from './record-command.ts'
import type { RequestOptions } from './request-options.ts'

/**
 * Records a person's message in the stream of the agent that it is to, or a publication in that of the root. Rejects with 404
 * for an agent that the run does not have, and where the agent refuses it: it has finished, or the payload is too long.
 */
export async function sendMessage(
  s: Services,
  runId: string,
  { to, topic, payload, expectReply, correlationId, by }: z.output<typeof MessageBody>,
  options: RequestOptions,
): Promise<Recorded> {
  await mustBeRun(s, runId)
  const about = topic === undefined ? {} : { topic }
  const type = correlationId !== undefined ? 'response' : expectReply ? 'request' : 'event'
  const answers = correlationId === undefined ? {} : { correlationId }
  const command: UserCommand =
    to === undefined
      ? { kind: 'publish', topic: topic ?? '', payload }
      : { kind: 'message', type, payload, ...about, ...answers }
  const agentId = to === undefined ? runId : (await agentsOf(s, runId, to))[0]!
  return record(s, { agentId, command, actor: actorOf('user', by), options, drive: 'wake' })
}
