import { documentOfCall } from '../../log/ids.ts'
import { type AgentCall, callerOf, forTool } from './agent-call.ts'
import type { DocumentGateway, NewDocument } from './gateway.ts'

/** A document that a call has made. */
export interface AgentCreated {
  readonly documentId: string
  readonly revision: number
  readonly frontier: string
}

/**
 * Makes a document for a call. Its id comes from that of the call, so that a call which is performed a second time after a
 * crash finds the document that it has made. Rejects with a ToolError.
 */
export const createForAgent = (gateway: DocumentGateway, asked: NewDocument, call: AgentCall): Promise<AgentCreated> =>
  forTool(async () => {
    const documentId = documentOfCall(call.toolCallId)
    const isMade = () => gateway.exists(documentId)
    if (!(await isMade())) {
      const key = { documentId, commandId: `call:${call.toolCallId}` }
      await gateway.create(asked, callerOf(call), key).catch(async (error: unknown) => {
        // A driver that takes this one's place may have been faster.
        if (!(await isMade())) throw error
      })
    }
    const { revision, frontier } = await gateway.read(documentId)
    return { documentId, revision, frontier }
  })
