import { agentSpecOf } from '../../../domain/agent/runtime/history/spec.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { wanted } from '../events/filter.ts'
import { EventViews } from '../events/view.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import type { RunNews } from '../runs/run-news.ts'
import type { Services } from '../services.ts'
import { type Begun, hasEnded } from './begin.ts'
import { questionsOf } from './interrupts.ts'
import { RunEvents } from './run-events.ts'
import type { AgUiEvent, AgUiMessage, RunAgentInput } from './schemas.ts'

type Drive = Extract<RunNews, { readonly kind: 'drive' }>

/**
 * The events of a run from RUN_STARTED until it ends or needs a person. The run continues if the reader leaves. After
 * RUN_STARTED an error of the run is RUN_ERROR; an error of this function rejects.
 */
export async function* runStream(
  s: Services,
  input: RunAgentInput,
  begun: Begun,
  options: RequestOptions,
  signal: AbortSignal,
): AsyncGenerator<AgUiEvent, void, undefined> {
  const { threadId, runId: name, parentRunId, tools = [] } = input
  const { runId } = begun
  const ids = { threadId, runId: name }
  const messages = input.messages as AgUiMessage[]
  const said = messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1)
  const before = begun.repeated ? said : messages
  const events = new RunEvents(runId, before, await providersOf(s, runId))
  yield {
    ...{ type: 'RUN_STARTED' as const, ...ids, ...(parentRunId !== undefined && { parentRunId }) },
    ...{ protocolVersion: '1.0', metadata: { keepup: { runId } } },
  }
  // The client may have a part of the messages that follow.
  if (begun.repeated) yield { type: 'MESSAGES_SNAPSHOT', messages: before }
  // Tools of a client run in the client, where no policy of keepup applies.
  if (tools.length > 0) yield { type: 'CUSTOM', name: 'keepup.tools_not_offered', value: tools.map((one) => one.name) }
  const { facts } = await s.runtime.at(runId, null)
  yield { type: 'STATE_SNAPSHOT', snapshot: facts.contextVariables }
  const end = yield* followed(s, begun, events, signal)
  if (signal.aborted) return
  yield* events.close()
  yield await lastEvent(s, { ...ids, keepupRunId: runId }, end, { events, options })
}

/** Yields what happens until the drive of this process ends, or the run ends or waits elsewhere. */
async function* followed(
  s: Services,
  { runId, after }: Begun,
  events: RunEvents,
  signal: AbortSignal,
): AsyncGenerator<AgUiEvent, Drive['end'], undefined> {
  const over = new AbortController()
  const stop = () => over.abort()
  signal.addEventListener('abort', stop, { once: true })
  const views = new EventViews(s.log, s.blobs)
  try {
    const news = s.live.listen(runId, over.signal)
    let cursor = after
    if (cursor === null)
      for await (const [first] of s.log.read(agentStream(runId), { limit: 1 })) {
        cursor = s.log.cursor(first!)
        yield* events.map(await views.view(first!))
      }
    const pages = s.log.subscribe(cursor, over.signal)[Symbol.asyncIterator]()
    let end: Drive['end'] = null
    /** The position after which the stream ends. Null: not known yet. */
    let last: number | null = null
    /** Another process drives the run, so the tables tell when it ends or waits. */
    let elsewhere = false
    const settle = async (state: Pick<Drive, 'driving' | 'end'>) => {
      if (state.driving) return
      end = state.end
      elsewhere = end === null || end.end === 'overtaken' ? s.holder !== null : false
      if (!elsewhere || (await stands(s, runId))) last = await lastPosition(s, runId)
    }
    await settle(s.drivers.state(runId))
    let seen = cursor?.position ?? 0
    let page = pages.next()
    let item = news.next()
    while (!signal.aborted && (last === null || seen < last)) {
      const next = await Promise.race([page.then((read) => ({ read })), item.then((told) => ({ told }))])
      if ('told' in next) {
        const { value, done } = next.told
        if (done) return end
        item = news.next()
        if (value.kind === 'text') yield* events.text(value.agentId, value.turn, value.text)
        else if (value.kind === 'drive') await settle(value)
        continue
      }
      if (next.read.done) return end
      page = pages.next()
      let isOfRun = false
      for (const event of next.read.value) {
        seen = event.position
        if (wanted(event, { run: runId })) {
          isOfRun = true
          yield* events.map(await views.view(event))
        }
        if (signal.aborted) return end
      }
      if (isOfRun && elsewhere && last === null && (await stands(s, runId))) last = seen
    }
    return end
  } finally {
    signal.removeEventListener('abort', stop)
    over.abort()
  }
}

/**
 * The position of the last event of a run, so that a stream of a run that ended long ago does not read the log to its
 * head. The head of the log if the tables or a stream cannot tell.
 */
export async function lastPosition({ log, read }: Pick<Services, 'log' | 'read'>, runId: string): Promise<number> {
  const head = (await log.headCursor()).position
  try {
    if (!(await read.current())) return head
    const positions: number[] = []
    for (const agentId of (await read.heads(runId)).value.keys()) {
      const stream = agentStream(agentId)
      const from = (await log.head(stream))?.revision
      // The stream of an external agent has another name, and AG-UI shows none of its events.
      if (from === undefined) continue
      for await (const page of log.read(stream, { from, bodies: false })) positions.push(page.at(-1)?.position ?? head)
    }
    return positions.length === 0 ? head : Math.max(...positions)
  } catch {
    return head
  }
}

/** Whether a run has ended, or waits for a person. */
async function stands(s: Services, runId: string): Promise<boolean> {
  await s.read.current()
  const { value } = await s.read.run(runId)
  if (value === null) return false
  return value.run.waiting.some((one) => one.for !== 'model') || hasEnded(s, runId)
}

interface Ids {
  readonly threadId: string
  readonly runId: string
  readonly keepupRunId: string
}

async function lastEvent(
  s: Services,
  { keepupRunId, ...ids }: Ids,
  end: Drive['end'],
  { events, options }: { readonly events: RunEvents; readonly options: RequestOptions },
): Promise<AgUiEvent> {
  const usage = events.usages.all
  const { state } = await s.runtime.at(keepupRunId, null)
  const { machine } = state
  if (machine.status === 'ERROR') {
    if (machine.code === 'CANCELLED') return { type: 'RUN_FINISHED', ...ids, usage, outcome: { type: 'cancelled' } }
    return { type: 'RUN_ERROR', message: machine.error, code: machine.code, usage }
  }
  if (machine.status === 'DONE') return { type: 'RUN_FINISHED', ...ids, usage, outcome: { type: 'success' } }
  const interrupts = (await questionsOf(s, keepupRunId, options)).map(({ interrupt }) => interrupt)
  if (interrupts.length > 0) return { type: 'RUN_FINISHED', ...ids, usage, outcome: { type: 'interrupt', interrupts } }
  if (end?.end === 'fault') return { type: 'RUN_ERROR', message: end.message, code: end.code, usage }
  if (end?.end === 'waiting')
    return {
      type: 'RUN_ERROR',
      message: 'the run waits for other people; send the request again',
      code: 'WAITING',
      usage,
    }
  const message = 'no process works on the run; a request with the right runs.steer drives it again'
  return { type: 'RUN_ERROR', message, code: 'INTERRUPTED', usage }
}

async function providersOf(s: Services, runId: string): Promise<ReadonlyMap<string, string>> {
  const found = await agentSpecOf(s, runId).catch(() => null)
  return new Map(found?.spec.models.known.map(({ id, provider }) => [id, provider]) ?? [])
}
