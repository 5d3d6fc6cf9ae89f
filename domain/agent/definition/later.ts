// Interfaces of seed 000, section 5, that nothing takes yet: of delegation and of documents, which come later.

/** Seed 000, 5.4. */
export interface DelegateToAgentInput {
  role: 'researcher' | 'coder' | 'reviewer' | 'analyst'
  task: string
  constraints?: string[]
  expectedOutput?: string
}

/** Seed 000, 5.8. */
export interface AiEnvelopeRequest {
  doc_frontier: string
  client_request_id: string
  ops_xml: string
  preconditions: Array<{ span_id: string; if_match_context_hash: string }>
}
