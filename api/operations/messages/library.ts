import type { z } from 'zod'
import { REQUEST_MS } from '../../../domain/agent/state/message-bus.ts'
import type { Cursor } from '../../../domain/log/cursor.ts'
import type { Callers } from '../../library/sender.ts'
import { wanted } from '../events/filter.ts'
import type { EventView } from '../events/schemas.ts'
import { EventViews } from '../events/view.ts'
import { Problem } from '../problem.ts'
import { mustBeRun } from '../runs/run-of-agent.ts'
import type { Services } from '../services.ts'
import { envelopeOf, MESSAGE_EVENTS, responseRefusal } from './recorded-messages.ts'
import { type Envelope, PublishBody, RespondBody, SendMessageBody, type Sent } from './schemas.ts'
import { publishPersonMessage, respondAsPerson, sendPersonMessage } from './send.ts'

/** A message to an agent (default: the run's root agent). `by`: the sender. */
export type Sending = Omit<z.input<typeof SendMessageBody>, 'expectReply'>

/** Filters for messages; a message must match all. `to`: an agent, or a person as `user:<id>`. */
export interface Hearing {
  readonly topic?: string
  readonly to?: string
  readonly signal?: AbortSignal
}

/**
 * Messages between the agents of a run and people (CONTRACTS 4). A program's messages come from a person, `user:<by>`.
 * An agent reads them at its next turn, so the run must be driven. Methods reject with errors that have a stable
 * `code`.
 */
export interface RuntimeMessageBus {
  /** Records a message. Rejects with RUN_FINISHED, NOT_FOUND or MESSAGE_TOO_LARGE. */
  send(runId: string, message: Sending): Promise<Sent>
  /** Records a message for every agent that has subscribed to the topic. */
  publish(runId: string, message: z.input<typeof PublishBody>): Promise<Sent>
  /**
   * Sends a request and waits for its answer. Rejects with REQUEST_NOT_TAKEN or REQUEST_REFUSED if there will be no
   * answer, and with TIMEOUT after 30 s.
   */
  request(runId: string, message: Sending): Promise<Envelope>
  /** Answers a request of an agent by its id. Rejects with REQUEST_NOT_OPEN if the agent does not wait for it. */
  respond(request: string, answer: z.input<typeof RespondBody>): Promise<Sent>
  /** Messages of a run that are recorded from the call on, until the signal aborts or keepup is closed. */
  subscribe(runId: string, hearing?: Hearing): AsyncIterable<Envelope>
}

type Parse = <T extends z.ZodType>(schema: T, value: unknown) => z.output<T>

interface Face {
  readonly parsed: Parse
  readonly callers: Callers
  /** Aborts when keepup is closed. */
  readonly ending: AbortSignal
}

const needed = (run: string | null) => ({ right: 'runs.steer', operation: 'sendMessage', run }) as const

export function messageBusOf(s: Services, { callers, parsed, ending }: Face): RuntimeMessageBus {
  const send = async (runId: string, message: Sending, expectReply: boolean) => {
    const { by, options } = await callers.caller(message.by, needed(runId))
    return sendPersonMessage(s, runId, parsed(SendMessageBody, { ...message, expectReply, by }), options)
  }
  return {
    send: async (runId, message) => send(runId, message, false),
    async publish(runId, message) {
      const { by, options } = await callers.caller(message.by, needed(runId))
      return publishPersonMessage(s, runId, parsed(PublishBody, { ...message, by }), options)
    },
    async request(runId, message) {
      const from = await s.log.headCursor()
      const { id } = await send(runId, message, true)
      const inTime = AbortSignal.any([AbortSignal.timeout(REQUEST_MS), ending])
      for await (const event of eventsAfter(s, runId, from, inTime)) {
        const envelope = envelopeOf(event)
        if (envelope?.correlationId !== id) continue
        const refused = responseRefusal(event)
        if (refused === null) return envelope
        throw new Problem('REQUEST_REFUSED', `no answer to ${id} comes: ${refused}`)
      }
      throw new Problem(
        'TIMEOUT',
        `no answer to ${id} came within ${REQUEST_MS / 1_000} s; "listMessages" shows one that still comes`,
      )
    },
    async respond(request, answer) {
      const { by, options } = await callers.caller(answer.by, needed(null))
      return respondAsPerson(s, request, parsed(RespondBody, { ...answer, by }), options)
    },
    subscribe(runId, { topic, to, signal } = {}) {
      const until = signal === undefined ? ending : AbortSignal.any([signal, ending])
      const reading = { right: 'bodies.read', operation: 'listMessages', run: runId } as const
      const from = Promise.all([s.log.headCursor(), callers.caller(undefined, reading)]).then(([head]) => head)
      // The iteration rejects with this error when it starts.
      from.catch(() => undefined)
      return heard(
        s,
        runId,
        from,
        until,
        ({ topic: about, to: whom }) => (topic === undefined || about === topic) && (to === undefined || whom === to),
      )
    },
  }
}

async function* heard(
  s: Services,
  runId: string,
  from: Promise<Cursor>,
  until: AbortSignal,
  isWanted: (envelope: Envelope) => boolean,
): AsyncGenerator<Envelope, void, undefined> {
  const cursor = await from
  await mustBeRun(s, runId)
  for await (const event of eventsAfter(s, runId, cursor, until)) {
    const envelope = envelopeOf(event)
    if (envelope !== null && isWanted(envelope)) yield envelope
  }
}

/** The run's message events after a cursor, until the signal aborts. */
async function* eventsAfter(
  { log, blobs }: Services,
  runId: string,
  from: Cursor,
  until: AbortSignal,
): AsyncGenerator<EventView, void, undefined> {
  const views = new EventViews(log, blobs)
  try {
    for await (const page of log.subscribe(from, until))
      for (const event of page) {
        if (until.aborted) return
        if (wanted(event, { run: runId, types: MESSAGE_EVENTS })) yield await views.view(event)
      }
  } catch (error) {
    if (!until.aborted) throw error
  }
}
