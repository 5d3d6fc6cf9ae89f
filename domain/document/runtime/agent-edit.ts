import { ToolError } from '../../calls/errors.ts'
import { headAndTail, RESULT_BYTES } from '../../calls/truncate.ts'
import type { Clock } from '../../ports/index.ts'
import type { Rebase } from '../envelope/after-conflict.ts'
import type { Applied, EnvelopeAnswer } from '../envelope/answers.ts'
import type { AiEnvelopeRequest } from '../envelope/request.ts'
import { attemptOf, MAX_RETRIES, retryDelayMs, retryId } from '../envelope/retry-delay.ts'
import { type AgentCall, documentCallerOf, forTool, toolErrorOf } from './agent-call.ts'
import type { DocumentGateway } from './gateway.ts'

// Seed 000, 5.8: an agent's edit is an envelope. After a conflict it is rebased and sent again.

/** An edit as the model requests it. `retryOf`: the id of the request whose conflict this edit resolves. */
export interface AgentEdit extends Omit<AiEnvelopeRequest, 'client_request_id'> {
  readonly documentId: string
  readonly retryOf?: string
}

export type AgentEdited = Applied['body'] & {
  /** The number of retries of the first request, including this call. */
  readonly retries: number
}

interface EditPorts {
  readonly gateway: DocumentGateway
  readonly clock: Clock
}

/**
 * Sends the edit of a call to the gateway. The request id is the call id or `<first>-retry-<n>`. A request that this
 * call sent before is not sent again, so a repeated call after a crash changes nothing twice. After a conflict on
 * unchanged text, the same edit is sent again at the current frontier. After any other conflict the call fails with
 * CONFLICT; its message gives the model the current text. Rejects with a ToolError.
 */
export function editForAgent({ gateway, clock }: EditPorts, edit: AgentEdit, call: AgentCall): Promise<AgentEdited> {
  const { documentId, retryOf, ...payload } = edit
  const caller = documentCallerOf(call)
  const first = retryOf === undefined ? call.toolCallId : attemptOf(retryOf).first
  const given = (id: string) => gateway.answered(documentId, id, caller)

  const send = async (request: AiEnvelopeRequest, retry: number): Promise<EnvelopeAnswer> => {
    const earlier = await given(request.client_request_id)
    if (earlier?.toolCallId === call.toolCallId) return earlier.answer
    if (retry > 0) await clock.sleep(retryDelayMs(retry), call.signal)
    return gateway.envelope(documentId, request, caller)
  }

  /** The number of this call's retry of the model's first request. */
  const retryNumber = async (): Promise<number> => {
    let last = await given(first)
    if (last === null)
      throw new ToolError('INVALID_ARGUMENTS', `retry_of: you have sent no request "${first}" for this document`)
    for (let retry = 1; retry <= MAX_RETRIES; retry++) {
      mustBeConflict(last.answer)
      const next = await given(retryId(first, retry))
      if (next === null || next.toolCallId === call.toolCallId) return retry
      last = next
    }
    mustBeConflict(last.answer)
    throw exhausted(MAX_RETRIES + 1)
  }

  return forTool(async () => {
    let retry = retryOf === undefined ? 0 : await retryNumber()
    let { doc_frontier } = payload
    for (;;) {
      const id = retry === 0 ? first : retryId(first, retry)
      const request = { ...payload, doc_frontier, client_request_id: id }
      const answer = await send(request, retry)
      if (answer.status === 200) return { ...answer.body, retries: retry }
      if (answer.status !== 409) throw toolErrorOf(answer)
      // This call may have sent its next attempt before a crash. The current document may since differ from the one
      // that the attempt was for.
      if ((await given(retryId(first, retry + 1)))?.toolCallId === call.toolCallId) {
        retry += 1
        continue
      }
      const next = await gateway.rebase(documentId, request)
      if (next.kind === 'exhausted') throw exhausted(next.attempts)
      if (next.kind === 'ask') throw conflict(documentId, first, next)
      doc_frontier = next.request.doc_frontier
      retry += 1
    }
  })
}

function mustBeConflict({ status }: EnvelopeAnswer): void {
  if (status === 409) return
  const why = status === 200 ? 'was applied' : 'was refused for good'
  throw new ToolError('INVALID_ARGUMENTS', `retry_of: that request ${why}; send a new edit without retry_of`)
}

const exhausted = (attempts: number) =>
  new ToolError(
    'RETRY_EXHAUSTED',
    `the document had changed before each of ${attempts} attempts, and nothing was applied; read it again and begin a new edit`,
  )

/** The maximum size of the texts in a message, in bytes. */
const TEXT_BYTES = RESULT_BYTES / 2

/** The model must decide. The error contains the current text, hash and frontier. */
function conflict(doc_id: string, first: string, { frontier, spans }: Extract<Rebase, { kind: 'ask' }>): ToolError {
  const bytes = Math.floor(TEXT_BYTES / spans.length)
  const now = spans.map((span) =>
    'text' in span
      ? {
          ...{ span_id: span.spanId, state: span.state, if_match_context_hash: span.hash },
          text: headAndTail(span.text, bytes, () => 'read_document shows the whole'),
        }
      : { span_id: span.spanId, state: span.state },
  )
  const shown = now.slice(0, Math.floor(TEXT_BYTES / 256))
  const left = now.length > shown.length ? { more: `read_document shows the other ${now.length - shown.length}` } : {}
  return new ToolError(
    'CONFLICT',
    'the document has changed, and nothing was applied. Decide from what stands there now, and call edit_document again ' +
      `with this retry_of, this frontier and these hashes:\n${JSON.stringify({ doc_id, retry_of: first, doc_frontier: frontier, spans: shown, ...left })}`,
  )
}
