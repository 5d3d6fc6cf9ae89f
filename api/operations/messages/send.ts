import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import type { RecordedEvent } from '../../../domain/log/envelope.ts'
import { agentStream, keyFor } from '../../../domain/log/ids.ts'
import { shownBody } from '../events/body.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { notFound } from '../problem.ts'
import { agentsOf } from '../runs/agents-of.ts'
import { recordCommand } from '../runs/record-command.ts'
import { actorOf, type RequestOptions } from '../runs/request-options.ts'
import { mustGovern, runOfAgent } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import type { PublishBody, RespondBody, SendMessageBody, Sent } from './schemas.ts'

// RuntimeMessageBus for people (CONTRACTS 4). A message is recorded at once in the stream of its recipient.

const HINT = 'GET /v1/runs/{id}/messages (keepup messages) lists the messages of a run'

/** Sends a message or a request to an agent of a run (default: the root agent). The agent reads it at its next turn. */
export async function sendPersonMessage(
  s: Services,
  runId: string,
  { to, payload, topic, expectReply, by }: SendMessageBody,
  options: RequestOptions,
): Promise<Sent> {
  const agentId = to === undefined ? runId : (await agentsOf(s, runId, to))[0]!
  const type = expectReply ? ('request' as const) : ('event' as const)
  return say(s, agentId, omitUndefined({ kind: 'send_message' as const, type, payload, topic }), by, options)
}

/** Sends a message to every agent of a run that has subscribed to the topic. */
export const publishPersonMessage = (
  s: Services,
  runId: string,
  { topic, payload, by }: PublishBody,
  options: RequestOptions,
): Promise<Sent> => say(s, runId, { kind: 'publish', topic, payload }, by, options)

/** Answers the request of a waiting agent. Rejects with REQUEST_NOT_OPEN if the agent no longer waits. */
export async function respondAsPerson(
  s: Services,
  request: string,
  { payload, by }: RespondBody,
  options: RequestOptions,
): Promise<Sent> {
  const [agentId] = /^(.+)\.m\d+(?:\+\d+)?$/.exec(request)?.slice(1) ?? []
  if (agentId === undefined) throw notFound('request', request, HINT)
  return say(s, agentId, { kind: 'send_message', type: 'response', payload, correlationId: request }, by, options)
}

/** The messages of a run, the oldest first. The tables must be caught up. */
export async function listMessages(
  s: Services,
  runId: string,
  page: { readonly limit: number; readonly after?: string | undefined },
) {
  await mustGovern(s, runId, 'to list messages')
  if ((await runOfAgent(s, runId)) !== runId) throw notFound('run', runId)
  const { position, value } = await s.read.messages({ runId, ...omitUndefined(page) })
  return { position, ...value }
}

async function say(
  s: Services,
  agentId: string,
  command: UserCommand,
  by: string | undefined,
  options: RequestOptions,
): Promise<Sent> {
  await mustGovern(s, agentId, 'to send messages')
  const done = await recordCommand(s, { agentId, command, actor: actorOf('user', by, options), options, drive: 'wake' })
  const isOurs = ours(s, options)
  const recent = await lastId(s, agentId, isOurs, Math.max(0, done.revision - LOOK_BACK), done.revision)
  // A repeated request may have been recorded long ago, so search the whole stream.
  return { ...done, id: recent ?? (await lastId(s, agentId, isOurs, 0, done.revision)) ?? '' }
}

type Header = RecordedEvent['header']

const ours = ({ log }: Pick<Services, 'log'>, { key }: RequestOptions): ((header: Header) => boolean) =>
  key === undefined ? () => true : ({ commandId }) => commandId.startsWith(keyFor(log.logId, key))

/**
 * The id of a person's last message between two revisions of an agent's stream, inclusive. Later messages may already
 * follow.
 */
async function lastId(
  s: Services,
  agentId: string,
  isOurs: (header: Header) => boolean,
  from: number,
  to: number,
): Promise<string | null> {
  let last: RecordedEvent | null = null
  for await (const page of s.log.read(agentStream(agentId), { from, limit: to - from + 1 }))
    for (const event of page) {
      const { type, actor } = event.header
      if (actor.kind === 'user' && MESSAGES.has(type) && isOurs(event.header)) last = event
    }
  const { json } = last === null ? { json: null } : await shownBody(last, s.blobs)
  return typeof json?.id === 'string' ? json.id : null
}

/** One message of a person creates fewer events. */
const LOOK_BACK = 8
const MESSAGES: ReadonlySet<string> = new Set(['message_received', 'message_distributed'])
