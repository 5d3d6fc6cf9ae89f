import type { Cursor } from '../../../domain/log/cursor.ts'
import { agentStream, keyFor } from '../../../domain/log/ids.ts'
import { issuesOf, issuesText } from '../../../domain/log/issues.ts'
import { mustHave } from '../access/identity.ts'
import type { OperationCaller } from '../operation.ts'
import { Problem } from '../problem.ts'
import { keyedRunId } from '../runs/idempotency.ts'
import { OWN_AGENT } from '../runs/own-agent.ts'
import { mustWrite } from '../runs/record-command.ts'
import { mustBeRun, mustGovern } from '../runs/run-of-agent.ts'
import { startRun } from '../runs/start-run.ts'
import { StartRun } from '../runs/start-schemas.ts'
import { sendInput } from '../runs/steer.ts'
import type { Services } from '../services.ts'
import { answerInterrupts } from './interrupts.ts'
import type { InputMessage, RunAgentInput } from './schemas.ts'

/** The run of a request. */
export interface Begun {
  readonly runId: string
  /** The stream begins after this event; null: with the first event of the run. */
  readonly after: Cursor | null
  /** An earlier request has sent the message, so the client may have a part of the answer. */
  readonly repeated: boolean
}

/**
 * Starts the run of a thread, or continues it: answers its interrupts, or sends the last message of the user. Records a
 * message once, by its id, however often it is sent.
 */
export async function beginRun(s: Services, input: RunAgentInput, caller: OperationCaller): Promise<Begun> {
  mustWrite(s)
  const { options } = caller
  const asked = input.messages.findLast(({ role }) => role === 'user')
  const found = await runOfThread(s, input)
  const may = (right: 'runs.start' | 'runs.steer') => {
    const { identity } = options
    if (identity !== undefined) mustHave(s, identity, right, { operation: 'runAgUi', run: found?.runId ?? null })
  }
  /** Drives a run that has not ended, for a caller with the right to; others only read its stream. */
  const drive = async (begun: Begun): Promise<Begun> => {
    const { identity } = options
    const mayDrive = identity === undefined || identity.rights.has('runs.steer')
    if (mayDrive && !(await hasEnded(s, begun.runId))) s.drivers.start(begun.runId)
    return begun
  }
  if (input.resume !== undefined && input.resume.length > 0) {
    if (found === null)
      throw new Problem('INVALID_REQUEST', 'resume: this thread has no run; send the messages of the thread too')
    const after = await s.log.headCursor()
    await answerInterrupts(s, found.runId, input.resume, options)
    return drive({ runId: found.runId, after, repeated: false })
  }
  if (found !== null && (asked === undefined || found.startedBy === asked.id))
    return drive({ runId: found.runId, after: null, repeated: true })
  if (asked === undefined) throw new Problem('INVALID_REQUEST', 'messages: a message of the user is missing; send one')
  const key = keyOf(input.threadId, asked.id)
  if (found !== null) {
    const said = await cursorOfKey(s, found.runId, key)
    if (said !== null) return drive({ runId: found.runId, after: said, repeated: true })
    if (!(await hasEnded(s, found.runId))) {
      may('runs.steer')
      const after = await s.log.headCursor()
      await sendInput(s, found.runId, { text: textOf(asked) }, { ...options, key })
      return drive({ runId: found.runId, after, repeated: false })
    }
  }
  may('runs.start')
  const { runId } = await startRun(s, startOf(input, asked), { ...options, key }, true, caller.overNetwork)
  return { runId, after: null, repeated: false }
}

const keyOf = (threadId: string, messageId: string): string => `ag-ui:${threadId}:${messageId}`

/**
 * The last run of a thread, with the id of the message that started it. Without one, the run whose id the thread has.
 * Ids of runs derive from thread and message, so no table of threads is needed.
 */
async function runOfThread(
  s: Services,
  { threadId, messages }: RunAgentInput,
): Promise<{ readonly runId: string; readonly startedBy: string | null } | null> {
  const asked = messages.filter(({ role }) => role === 'user').reverse()
  // A run with more inputs than this is mostly the first one of its thread.
  const sought = asked.length > 2 * SOUGHT ? [...asked.slice(0, SOUGHT), ...asked.slice(-SOUGHT)] : asked
  for (const { id } of sought) {
    const runId = keyedRunId(s, 'run', keyOf(threadId, id))
    if ((await s.log.head(agentStream(runId))) !== null) return { runId, startedBy: id }
  }
  if (!(await isRun(s, threadId))) return null
  await mustGovern(s, threadId, 'AG-UI')
  return { runId: threadId, startedBy: null }
}

/** How many messages of the user at each end of a conversation may have started the run of the thread. */
const SOUGHT = 32

/** Whether the id is that of a run. That of an agent below a root is none. */
async function isRun(s: Services, id: string): Promise<boolean> {
  try {
    await mustBeRun(s, id)
    return true
  } catch (error) {
    if (error instanceof Problem && error.code === 'NOT_FOUND') return false
    throw error
  }
}

/** The place of the event that a key recorded in a run; null: none. */
async function cursorOfKey({ log }: Services, runId: string, key: string): Promise<Cursor | null> {
  const prefix = keyFor(log.logId, key)
  for await (const page of log.read(agentStream(runId), { bodies: false }))
    for (const event of page) if (event.header.commandId.startsWith(prefix)) return log.cursor(event)
  return null
}

export async function hasEnded(s: Services, runId: string): Promise<boolean> {
  const { state } = await s.runtime.at(runId, null)
  return state.machine.status === 'DONE' || state.machine.status === 'ERROR'
}

/** The text of a message of the user. Throws for a part that is no text. */
function textOf({ content }: InputMessage): string {
  const parts = Array.isArray(content) ? content : [{ type: 'text', text: String(content ?? '') }]
  const other = parts.find(({ type }) => type !== 'text')
  if (other !== undefined)
    throw new Problem(
      'INVALID_REQUEST',
      `messages: a message here takes text, not "${other.type}"; send the text alone`,
    )
  const text = parts
    .map((part) => part.text ?? '')
    .join('\n')
    .trim()
  if (text === '') throw new Problem('INVALID_REQUEST', 'messages: the last message of the user has no text')
  return text
}

const REMEMBERED = 20
const MAX_TEXT = 2_000

/** The start of a run, with the conversation and the client's state as context variables. */
function startOf(input: RunAgentInput, asked: InputMessage): StartRun {
  const { messages, state, context = [], forwardedProps } = input
  const settings = (forwardedProps as { readonly keepup?: object } | null | undefined)?.keepup ?? {}
  const before = messages.slice(0, messages.indexOf(asked)).flatMap(({ role, content }) => {
    if ((role !== 'user' && role !== 'assistant') || typeof content !== 'string' || content === '') return []
    return [{ role, text: content.slice(0, MAX_TEXT) }]
  })
  const contextVariables = {
    ...(typeof state === 'object' && !Array.isArray(state) && state),
    ...(context.length > 0 && { context: context.map(({ description, value }) => ({ description, value })) }),
    ...(before.length > 0 && { conversation: before.slice(-REMEMBERED) }),
  }
  const { success, data, error } = StartRun.safeParse({
    ...(Object.keys(contextVariables).length > 0 && { contextVariables }),
    ...settings,
    ...{ task: textOf(asked), drive: true },
  })
  if (!success) throw new Problem('INVALID_REQUEST', `forwardedProps.keepup: ${issuesText(issuesOf(error))}`)
  if (data.agent !== undefined && data.agent !== OWN_AGENT)
    throw new Problem(
      'INVALID_REQUEST',
      "forwardedProps.keepup.agent: only keepup's own agent speaks AG-UI; leave it out, or use POST /v1/runs",
    )
  return data
}
