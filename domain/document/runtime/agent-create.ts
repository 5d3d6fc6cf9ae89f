import { documentOfCall } from '../../log/ids.ts'
import { type AgentCall, documentCallerOf, forTool } from './agent-call.ts'
import type { DocumentGateway, NewDocument } from './gateway.ts'

/** The document that a call created. */
export interface AgentCreated {
  readonly documentId: string
  readonly revision: number
  readonly frontier: string
}

/**
 * Creates a document for a call. The document id derives from the call id, so a repeated call after a crash finds its
 * document. Rejects with a ToolError.
 */
export const createForAgent = (gateway: DocumentGateway, asked: NewDocument, call: AgentCall): Promise<AgentCreated> =>
  forTool(async () => {
    const documentId = documentOfCall(call.toolCallId)
    const isMade = () => gateway.exists(documentId)
    if (!(await isMade())) {
      const key = { documentId, commandId: `call:${call.toolCallId}` }
      await gateway.create(asked, documentCallerOf(call), key).catch(async (error: unknown) => {
        // Another driver may have performed this call at the same time.
        if (!(await isMade())) throw error
      })
    }
    const { revision, frontier } = await gateway.read(documentId)
    return { documentId, revision, frontier }
  })
