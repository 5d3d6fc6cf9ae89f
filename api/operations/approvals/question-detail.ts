import type { z } from 'zod'
import type { UserCommand } from '../../../domain/agent/decide/commands.ts'
import { doubtHash } from '../../../domain/agent/rules/doubt-question.ts'
import { agentOfCall } from '../../../domain/agent/runtime/history/results.ts'
import { questionHash, type SeenFile } from '../../../domain/calls/question-hash.ts'
import { notFound, Problem } from '../problem.ts'
import type { ApprovalRow } from '../read-model.ts'
import type { Services } from '../services.ts'
import { filesAskedAbout, previewOf, secretNotes } from './preview.ts'
import type { ApprovalDetail, DoubtDetail } from './schemas.ts'

/** The hash of the question about a call, including the files in its preview. */
const approvalQuestion = (
  { toolCallId, argumentsHash, expiresAt, secrets }: ApprovalRow,
  files: readonly SeenFile[],
): string => questionHash({ for: 'approval', toolCallId, argumentsHash, asked: expiresAt || null }, files, secrets)

/** An approval with its preview. Rejects with `NOT_FOUND`. */
export async function approvalDetail(
  s: Pick<Services, 'read' | 'files' | 'documents'>,
  toolCallId: string,
): Promise<z.infer<typeof ApprovalDetail>> {
  const { position, value } = await s.read.approval(toolCallId)
  if (!value) throw notFound('approval', toolCallId)
  const { notes, ...shown } = await previewOf(value, s)
  const preview = { ...shown, notes: [...secretNotes(value), ...notes] }
  return { position, approval: value, preview, questionHash: approvalQuestion(value, preview.files) }
}

/**
 * The question about a call's unknown outcome, with its hash. `doubt` null: the run has ended, so lists do not contain
 * the question. Rejects with `NOT_FOUND` if the outcome is not in doubt.
 */
export async function doubtQuestion(
  s: Pick<Services, 'read' | 'runtime'>,
  toolCallId: string,
): Promise<z.infer<typeof DoubtDetail>> {
  const agentId = agentOfCall(toolCallId)
  if (agentId === null) throw notFound('tool call', toolCallId, 'an id looks like <agent>.t<turn>.c<index>')
  const { state } = await s.runtime.at(agentId, null)
  const hash = doubtHash(state, toolCallId)
  if (hash === null) throw notFound('doubt', toolCallId)
  const { position, value } = await s.read.doubts({ runId: state.runId })
  return { position, doubt: value.find((ask) => ask.toolCallId === toolCallId) ?? null, questionHash: hash }
}

/**
 * Adds to a person's command the data to compare its question with. Rejects with `INVALID_REQUEST` if an answer does
 * not name the question that the person has seen.
 */
export async function withQuestion(s: Pick<Services, 'read' | 'files'>, command: UserCommand): Promise<UserCommand> {
  if (command.kind !== 'decide_approval' && command.kind !== 'resolve_doubt') return command
  if (command.questionHash === undefined) {
    const where = command.kind === 'decide_approval' ? 'approvals' : 'doubts'
    throw new Problem('INVALID_REQUEST', `questionHash: required; read it from GET /v1/${where}/${command.toolCallId}`)
  }
  if (command.kind === 'resolve_doubt') return command
  await s.read.current()
  const { value } = await s.read.approval(command.toolCallId)
  const files = value?.state === 'pending' ? await filesAskedAbout(value, s.files) : []
  return { ...command, files: [...files] }
}
