// Interfaces of seed 000, section 5, that nothing takes yet: of delegation, which comes later.

/** Seed 000, 5.4. */
export interface DelegateToAgentInput {
  role: 'researcher' | 'coder' | 'reviewer' | 'analyst'
  task: string
  constraints?: string[]
  expectedOutput?: string
}
