import type { Interrupt } from '@ag-ui/core'
import { z } from 'zod'
import type { EventType } from '../../../domain/agent/events/events.ts'
import type { RejectionCode } from '../../../domain/calls/error-codes.ts'
import { CommandRejected } from '../../../domain/calls/errors.ts'
import { agentStream } from '../../../domain/log/ids.ts'
import { issuesOf, issuesText } from '../../../domain/log/issues.ts'
import { mustHave } from '../access/identity.ts'
import { recordApproval } from '../approvals/decide.ts'
import { approvalDetail, doubtQuestion } from '../approvals/question-detail.ts'
import type { AskView } from '../approvals/schemas.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { Problem } from '../problem.ts'
import type { RequestOptions } from '../runs/request-options.ts'
import { liftPause, sendInput } from '../runs/steer.ts'
import type { Services } from '../services.ts'
import type { InterruptAnswer } from './schemas.ts'

/** A question to a person as an interrupt. */
interface Question {
  /**
   * The id includes the hash of the question, or the revision of the event that asked, so an answer is valid only for the
   * question that was shown.
   */
  readonly interrupt: Interrupt
  readonly right: 'runs.decide' | 'runs.steer'
  /** Checks an answer. Returns the function that records it; null: the question stays open. */
  readonly read: (answer: InterruptAnswer) => (() => Promise<unknown>) | null
}

const reason = z.string().min(1).optional()
const Decision = z.strictObject({ decision: z.enum(['approved', 'rejected']), reason })
const Doubt = z.strictObject({ decision: z.enum(['happened', 'run', 'abandon']), reason })
const Text = z.strictObject({ text: z.string().trim().min(1) })

/** The open questions of a run, and its pause. Without approvals that this person has given and others must too. */
export async function questionsOf(s: Services, runId: string, options: RequestOptions): Promise<Question[]> {
  await s.read.current()
  const { value: asks } = await s.read.asks({ runId })
  const found = await Promise.all(asks.map((ask) => questionOf(s, ask, options)))
  const open = found.filter((question) => question !== null)
  const { value } = await s.read.run(runId)
  return open.length === 0 && value?.run.paused === true ? [await pauseOf(s, runId, options)] : open
}

function questionOf(s: Services, ask: AskView, options: RequestOptions): Promise<Question | null> {
  if (ask.for === 'approval') return approvalOf(s, String(ask.toolCallId), options)
  return ask.for === 'doubt' ? doubtOf(s, ask, options) : inputOf(s, ask, options)
}

async function approvalOf(s: Services, toolCallId: string, options: RequestOptions): Promise<Question | null> {
  const { approval, preview, questionHash } = await approvalDetail(s, toolCallId)
  const by = options.identity?.principal
  if (approval.state !== 'pending' || approval.supporters.some((one) => one.by === by)) return null
  const decide = (decided: z.infer<typeof Decision>) => () =>
    recordApproval(
      s,
      { kind: 'decide_approval', toolCallId, questionHash, ...omitUndefined(decided) },
      undefined,
      options,
    )
  return {
    interrupt: {
      id: `approval:${toolCallId}:${questionHash}`,
      reason: 'tool_call',
      message: [`${approval.toolName}: ${approval.reason}`, preview.text, ...preview.notes].join('\n\n'),
      toolCallId,
      responseSchema: schemaOf(Decision),
      expiresAt: approval.expiresAt,
      ...subagent(approval),
    },
    right: 'runs.decide',
    read: ({ status, payload }) => decide(status === 'cancelled' ? { decision: 'rejected' } : valid(Decision, payload)),
  }
}

async function doubtOf(s: Services, ask: AskView, options: RequestOptions): Promise<Question> {
  const toolCallId = String(ask.toolCallId)
  const { questionHash } = await doubtQuestion(s, toolCallId)
  return {
    interrupt: {
      id: `doubt:${toolCallId}:${questionHash}`,
      reason: 'keepup:doubt',
      message: `Nobody knows whether this call of ${ask.toolName} has happened. ${ask.text}`,
      toolCallId,
      responseSchema: schemaOf(Doubt),
      ...subagent(ask),
    },
    right: 'runs.decide',
    read({ status, payload }) {
      if (status === 'cancelled') return null
      const command = {
        kind: 'resolve_doubt',
        toolCallId,
        questionHash,
        ...omitUndefined(valid(Doubt, payload)),
      } as const
      return () => recordApproval(s, command, undefined, options)
    },
  }
}

async function inputOf(
  s: Services,
  { runId, agentId, toolCallId, text, ...ask }: AskView,
  options: RequestOptions,
): Promise<Question> {
  const id = `input:${toolCallId ?? agentId}:${await lastRevision(s, agentId, ASKS)}`
  return {
    interrupt: {
      id,
      reason: 'input_required',
      message: text === '' ? 'What is the task?' : text,
      ...(toolCallId !== null && { toolCallId }),
      responseSchema: schemaOf(Text),
      ...subagent({ runId, agentId, ...ask }),
    },
    right: 'runs.steer',
    read({ status, payload }) {
      if (status === 'cancelled') return null
      const input = { ...valid(Text, payload), agent: agentId, ...(toolCallId !== null && { toolCallId }) }
      return () => sendInput(s, runId, input, keyed(options, id))
    },
  }
}

async function pauseOf(s: Services, runId: string, options: RequestOptions): Promise<Question> {
  const id = `pause:${runId}:${await lastRevision(s, runId, PAUSES)}`
  const lift = () => liftPause(s, runId, 'resume', { drive: true }, keyed(options, id))
  return {
    interrupt: { id, reason: 'keepup:pause', message: 'The run is paused. Shall it go on?' },
    right: 'runs.steer',
    read: ({ status }) => (status === 'cancelled' ? null : lift),
  }
}

/** Events after which an agent asks for input. */
const ASKS: readonly EventType[] = ['agent_started', 'forked', 'turn_end', 'user_input']
/** Events that pause an agent, a step at the end of its turn. */
const PAUSES: readonly EventType[] = ['paused', 'step_requested']

/** The revision of the last event of these types in the stream of an agent; 0: none. */
async function lastRevision({ log }: Services, agentId: string, types: readonly EventType[]): Promise<number> {
  let last = 0
  for await (const page of log.read(agentStream(agentId), { bodies: false, types }))
    for (const { header } of page) if (types.some((type) => type === header.type)) last = header.revision
  return last
}

/** A repeated answer is recorded once, even if two requests bring it at the same time. */
const keyed = (options: RequestOptions, id: string): RequestOptions => ({ ...options, key: `ag-ui:${id}` })

const subagent = ({ runId, agentId }: Pick<AskView, 'runId' | 'agentId'>) =>
  agentId === runId ? {} : { subagentRunId: agentId }

function schemaOf(schema: z.ZodObject): Record<string, unknown> {
  const { type, properties, required } = z.toJSONSchema(schema)
  return { type, properties, required }
}

function valid<T extends z.ZodType>(schema: T, payload: unknown): z.output<T> {
  const { success, data, error } = schema.safeParse(payload)
  if (success) return data
  throw new Problem('INVALID_REQUEST', `resume: payload: ${issuesText(issuesOf(error))}`)
}

/**
 * Records answers to open questions. Answers to other questions are ignored: another person has decided, or the question
 * has changed and is asked again. Checks all answers and rights before the first is recorded.
 */
export async function answerInterrupts(
  s: Services,
  runId: string,
  answers: readonly InterruptAnswer[],
  options: RequestOptions,
): Promise<void> {
  const questions = new Map((await questionsOf(s, runId, options)).map((one) => [one.interrupt.id, one]))
  const records = answers.flatMap((answer) => {
    const question = questions.get(answer.interruptId)
    if (question === undefined) return []
    const { identity } = options
    if (identity !== undefined) mustHave(s, identity, question.right, { operation: 'runAgUi', run: runId })
    const record = question.read(answer)
    return record === null ? [] : [record]
  })
  for (const record of records)
    await record().catch((error: unknown) => {
      if (!(error instanceof CommandRejected && SETTLED.has(error.code))) throw error
    })
}

/** Refusals of an answer whose question another answer has settled, or which has changed or expired meanwhile. */
const SETTLED: ReadonlySet<RejectionCode> = new Set<RejectionCode>([
  ...(['APPROVAL_EXPIRED', 'APPROVAL_NOT_PENDING', 'CALL_NOT_OPEN', 'OUTCOME_NOT_IN_DOUBT'] as const),
  // Another answer has the key of the question.
  'IDEMPOTENCY_KEY_REUSED',
  ...(['QUESTION_CHANGED', 'RUN_FINISHED'] as const),
])
